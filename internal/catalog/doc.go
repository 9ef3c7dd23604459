// Package catalog holds what is small and read by every request: the records of
// the queues, with their attributes and tags.
//
// All of it is in memory, so that reads cost nothing; every change is durable
// before it is seen. The records that it gives out are never changed: a change
// makes a new one. They are stored in the control store. The catalog also follows
// what other nodes change there.
//
// A queue's attributes are here because every request needs them, on every node. The shard learns of changes, and asks
// for all queues when it is loaded. Creating a queue is one commit here and nothing in the shard; deleting one is a
// commit here and then a range deletion in the shard. A crash between the two leaves the data of a queue that no
// longer exists. The shard removes it when it is loaded, because the record of the deletion has the queue's id: see
// [Catalog.Deleted]. A queue that is merely not listed is kept, as the list may be older than the queue. Queue ids are
// never used again, so a new queue under an old name cannot see the old one's messages, and old receipt handles do not
// open on it.
package catalog
