// Package replica keeps one shard on one node: a store that follows the shard's
// log, and the right to write that log while this node is the shard's owner.
//
// The log is the truth and the store what comes of it. At any moment a store is
// exactly what comes of the records up to its position, on every node, after every
// crash; each record says what the hash of all before it is, so that a store which
// is something else finds out with the next record, and stops.
//
// A shard has one owner at a time, and the log decides who that is: the owner
// appends each record where it expects the log to end, and the first that another
// node has put there ends its ownership. It guarantees that
//
//   - a commit returns nil only when its record is in the log, and the store has
//     applied all records before it;
//   - between two claims all records are of one epoch and one owner;
//   - an owner that was paused, cut off or whose clock is wrong can append nothing
//     once another one has claimed the shard;
//   - after an append whose outcome is unknown nothing is answered until the log has
//     said what became of it.
//
// That an owner does not answer from memory what another one has changed since
// rests on its lease, and so on clocks that run about equally fast; see
// [Ownership.Confirm]. Everything else does not.
//
// All decisions are in one type without goroutines, machine, so that a simulation
// can show it every order of events; the rest of the package carries them out.
package replica
