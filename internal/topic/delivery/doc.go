// Package delivery brings the messages of topics to subscribers that are not queues.
//
// Such a subscription has an internal queue. A publish puts its copy there, in the transaction that answers the publisher,
// so nothing is lost when the server is killed. Where the queue's shard is served, a Deliverer runs:
//
//	d := delivery.New(options)
//	err := d.Run(ctx, shard)       // for each shard, as long as it is served here
//
// It receives a message, sends it to the endpoint, and deletes it. If the endpoint does not take it, the message stays
// invisible for the delay that the delivery policy gives, counted by the receives of the queue, and is then sent again,
// here or wherever the shard is served by then. After the last retry, or when the endpoint says that no retry would help,
// the message goes to the subscription's dead-letter queue; without one it is dropped, with a line in the log and a count.
//
// A delivery is made at least once. If the server is killed between the endpoint's answer and the deletion, it is made
// again. Order is not kept: FIFO topics have no such subscriptions.
//
// # A slow endpoint holds up no other
//
// Each subscription has a goroutine while it has messages, and costs nothing otherwise. It begins with one message and goes
// on with several at a time when that has been delivered. Subscriptions that begin or fail wait for places of their own,
// apart from those that work: so a thousand endpoints that hang delay each other, and not the others.
//
// An internal queue is on one shard, so that a delivery policy's maxReceivesPerSecond holds for the whole subscription. When
// another node takes over the shard, it begins to count anew.
package delivery
