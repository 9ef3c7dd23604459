// Package store keeps an ordered key-value space on one machine's disk and
// makes batches of changes to it durable.
//
// It guarantees that a [Txn] is applied whole or not at all, that once
// [Store.Commit] has returned nil the changes survive the death of the process
// and the loss of power, and that what a Txn reads includes its own changes.
//
// A Txn can be read as one string of bytes ([Txn.Bytes]). Applying the same bytes in the same order creates a second
// copy of the store.
//
// On a full disk a commit takes longer and does not fail; see [Disk].
//
// The embedded engine is Pebble, an LSM tree with a write-ahead log. The
// package knows nothing of queues.
package store
