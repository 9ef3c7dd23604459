// Package router finds the shards of a queue, and their owners, for every call
// of the API. A node of a cluster has a router where a single machine has a shard.
//
// A queue has one shard or several. For a standard queue on several shards,
// each batch of messages goes to any one of them; a FIFO queue has each message
// group on one, by a hash. Receives sample the shards, and long polls ask all
// of them. The router puts the shard's number into a message's position on the
// way out and removes it on the way in, so neither the API nor the engine knows
// of it.
//
// It guarantees that it repeats a call only if the call was certainly not
// executed: if a shard may have executed it, the answer is
// shard.ErrUnavailable, and the client decides. It waits for a shard without
// owner, but not for long. If a long poll receives a message and cannot use it,
// because another shard was faster or the consumer has left, the router returns
// the message.
package router
