// Package remote calls a shard whose owner is another node.
//
// A [Client] has the methods of a shard and sends each call as one message to
// the node that owns it; [Serve] executes the calls of other nodes and answers them.
// A receive that waits is answered when the owner has messages: it does not poll.
//
// It guarantees that a call is executed at most once; that shard.ErrNotBegun
// means that nothing was done, while any other shard.ErrUnavailable leaves that
// open; that the owner executes a call only when its control store is at least
// as current as the caller's; and that a receive whose consumer leaves makes no
// message invisible, as long as the two nodes can reach each other.
//
// Nodes may run different versions of the program. A message of a version or
// with a call that a node does not know is refused, and nothing is done.
package remote
