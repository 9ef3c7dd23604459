// Package router finds the shards of a queue, and their owners, for every call
// of the API. It is what a node of a cluster has in the place of a shard.
//
// A queue has one shard or several. A standard queue that is spread takes each
// batch of messages on any of its shards; a FIFO queue has each message group on
// one, by a hash. Receives sample the shards and long polls ask all of them.
// Which shard a message is on is written into its position on the way out, and
// taken off on the way in, so that neither the API nor the engine knows of it.
//
// It guarantees that a call is repeated only when it is certain that nothing was
// done before: what a shard may have done is answered with
// shard.ErrUnavailable, and the client decides. A shard without owner is waited
// for, but not for long. A message that a long poll is given and cannot use,
// because another shard was faster or the consumer has gone, is returned.
package router
