// Package trail records the calls to the server: one event for each call that changes or reads the configuration, in
// the format of AWS CloudTrail's records. Data events, of calls that send and receive messages, are not stored here,
// but can be passed to a DataSink.
//
// # What is guaranteed
//
//   - The event of a call that has changed the control store is in the commit of that change: it is stored if and only
//     if the change is, and wherever the change is. The answer to the call is added to it within a second, or is
//     missing if the server dies meanwhile.
//   - Other events, of calls that were refused or change nothing there, follow within a second. While they cannot be
//     written, the server keeps them up to MaxPendingBytes; it drops further ones, and counts them. The events of an
//     account's calls get at most as much room as they leave free, so that one account takes no room from others.
//   - No event contains secrets, session tokens or message bodies.
//   - Events of changes are kept for 90 days and take 256 MiB of the disk at most, others 64 MiB: a caller who is
//     refused all day cannot push out what others have changed. The oldest are removed first.
//
// A lookup reads only the events of its account: each account has a list of its own, in the same commits.
//
// Events can be put into outboxes, from which they are delivered elsewhere: in the commit that stores them, if a
// Selector selects them. They stay in the outbox until they are marked as delivered, on whichever node they were
// written.
//
// Events are in the control store, but are not records that every node keeps in memory:
// their keys begin with the byte 255. A program that does not know them leaves them alone.
package trail
