// Package cluster makes one service of several nodes.
//
// Each shard has a log, kept by an engine that replicates it, and on some of the
// nodes a replica of its store. One of these nodes owns the shard: it alone runs
// its queues, and its commits are records of the log. Which node that is follows
// from leases; that no other node can commit follows from the log. The control
// shard, with the records of queues and of who there is, has a replica on every
// node.
//
// A node guarantees that it answers for a shard only while it owns it; that it knows all queues before it serves a
// shard, since data of queues it does not know would be removed; that a planned stop hands its shards over first; and
// that a replica is removed only when enough others have its data.
//
// The package knows neither HTTP nor the operations of a service. It offers them a router, which takes the place of a
// shard on one machine.
package cluster
