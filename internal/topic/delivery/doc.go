// Package delivery delivers the messages of topics to subscribers that are not queues.
//
// Such a subscription has an internal queue. A publish puts its copy there, in the transaction that answers the
// publisher, so nothing is lost when the server is killed. Where the queue's shard is served, a Deliverer runs:
//
//	d := delivery.New(options)
//	err := d.Run(ctx, shard)       // for each shard, as long as it is served here
//
// It receives a message, sends it to the endpoint, and deletes it. If the endpoint does not accept it, the message
// stays invisible for the delay that the delivery policy sets, whose retries are counted by the receives of the queue.
// Then it is sent again, here or wherever the shard is served by then. After the last retry, or when the endpoint's
// answer shows that no retry would help, the message goes to the subscription's dead-letter queue; without one it is
// dropped, logged and counted.
//
// A delivery is made at least once. If the server is killed between the endpoint's answer and the deletion, it is made
// again. Order is not kept: FIFO topics have no such subscriptions.
//
// # A slow endpoint holds up no other
//
// Each subscription has a goroutine while it has messages, and costs nothing otherwise. It begins with one message, and
// continues with several at a time once that has been delivered. While it delivers it holds a place. There are two
// lanes: the fast one has places for subscriptions whose endpoint has accepted the last messages within a second, the
// slow one for those that begin, fail or take longer. So endpoints that hang delay each other, but not those that work.
//
// In each lane the places are shared fairly by account, and those of an account by host; see package fairshare. An
// account alone holds no more than half of a lane, and a host no more than a third. An account whose endpoints all hang
// leaves the places free in which the deliveries of others begin.
//
// An internal queue is on one shard, so that a delivery policy's maxReceivesPerSecond holds for the whole
// subscription. When another node takes over the shard, it restarts the count.
package delivery
