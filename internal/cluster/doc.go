// Package cluster makes one service of several nodes.
//
// Each shard has a log, which a replicating engine keeps, and a replica of its store on some of the nodes. One of these
// nodes owns the shard: it alone runs its queues, and its commits are records of the log. Leases decide which node that
// is; the log ensures that no other node can commit. The control shard, with the records of queues and nodes, has a
// replica on every node.
//
// A node guarantees four things. It answers for a shard only while it owns the shard. It knows all queues before it
// serves a shard, so every message belongs to a known queue. Before a planned stop, it hands its shards over. It
// removes a replica only when enough other nodes have its data.
//
// The package knows neither HTTP nor the operations of a service. It offers them a router, which takes the place of a
// shard on one machine.
package cluster
