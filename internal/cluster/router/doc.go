// Package router finds the shards of a queue, and their owners, for every call
// of the API. A node of a cluster has a router where a single machine has a shard.
//
// A queue has one shard or several. A standard queue that is spread takes each
// batch of messages on any of its shards; a FIFO queue has each message group on
// one, by a hash. Receives sample the shards and long polls ask all of them.
// Which shard a message is on is written into its position on the way out, and
// taken off on the way in, so that neither the API nor the engine knows of it.
//
// It guarantees that it repeats a call only when it is certain that nothing was
// done before: if a shard may have done something, the answer is
// shard.ErrUnavailable, and the client decides. It waits for a shard without owner,
// but not for long. It returns a message that a long poll was given and cannot use,
// because another shard was faster or the consumer has gone.
package router
