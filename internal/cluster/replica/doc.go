// Package replica keeps one shard on one node: a store that follows the shard's log, and, while this node is the
// shard's owner, the right to append to that log.
//
// The log is the truth, and a store is the result of applying it. On every node and after every crash, a store is
// exactly the result of applying the records up to its position to an empty store. Each record carries the hash over
// all records before it, so a store that differs finds out with the next record, and stops.
//
// A shard has one owner at a time, and the log decides which node that is. The owner appends each record at the
// position where it expects the log to end; when it finds another node's record there, its ownership has ended. The
// package guarantees:
//
//   - A commit returns nil only when its record is in the log, and the store has applied it and all before it.
//   - Between two claims all records have one epoch and one owner.
//   - An owner that was paused or cut off, or whose clock is wrong, can append nothing once another node has claimed
//     the shard.
//   - After an append with an unknown outcome no caller is answered before the log shows whether it was stored.
//
// One guarantee depends on leases, and so on clocks that run at about the same pace: an owner never answers from memory
// that another owner has since made outdated. See [Ownership.Confirm]. All others hold with any clocks.
//
// One type without goroutines, machine, makes all decisions, so that a simulation can pass it events in any order. Its
// files follow the protocol: follow.go (reading the log), lease.go, append.go, takeover.go, fetch.go (checkpoints). Its
// parts, which DESIGN.md draws, have a file each: reads.go, candidacy.go, tenure.go, appends.go, service.go. The type
// runner carries out the decisions.
package replica
