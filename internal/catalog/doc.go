// Package catalog keeps the records of the queues, with their attributes and tags. They are small, and every request
// on every node reads them.
//
// All records are in memory, so that reads cost nothing. They are stored in the control store, and a change is durable
// before it is visible. A record is never modified: a change replaces it. The catalog also follows the changes of other
// nodes.
//
// A shard receives changes of queues from the catalog, and reads all queues when it is loaded. Creating a queue is one
// commit here and nothing in the shard. Deleting one is a commit here, after which the deletion can be undone for a
// while (shelf.go); later another commit, its tombstone; and then a range deletion in the shard. A crash between the
// two leaves the data of a queue that no longer exists. The shard removes it at the next load, because the catalog has
// a tombstone with the queue's id: see [Catalog.Deleted]. A shard keeps the data of a queue that is merely not listed,
// because the list may be older than the queue. Queue ids are never reused, so a new queue under an old name cannot see
// the old one's messages, and old receipt handles are not valid for it.
package catalog
