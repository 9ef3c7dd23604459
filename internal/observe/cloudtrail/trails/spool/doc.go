// Package spool keeps data events on the node that has recorded them until they are delivered.
//
// # What is guaranteed
//
//   - Add never waits: it puts the event into memory. Run writes it to a file within a second, or as soon as much is
//     waiting, even if deliveries fail. A crash of the process loses the events of the last second, a power failure
//     those of the last seconds.
//   - An event whose write fails stays in memory, and the next flush tries again.
//   - Events in a file stay until Remove, even after a restart, within MaxSize and MaxAge. Above MaxSize, the oldest
//     events of the trail that has the most are removed first.
//   - No more than MaxPending bytes wait in memory, and no trail takes the room of the others: it gets at most as
//     much as it leaves free. Further events are dropped. Dropped counts them.
//
// # Segments
//
// A segment is a file of events of one trail, one JSON text a line, named TRAIL-TIME-ID.events: the time at which it
// was begun, in milliseconds, and a random id. A write that fails may leave any part of its text behind the known size
// of the segment. The same text, or one that begins with it, is then written to the same place. An incomplete line,
// because the process or the disk failed, is therefore always the last of its file, and is skipped.
package spool
