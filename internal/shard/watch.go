package shard

import "github.com/sluicemq/sluice/internal/queue"

// Watcher receives the durable events of the messages of a shard. Its methods may be called from any goroutine, and
// must not block, because callers of the shard wait for them.
type Watcher interface {
	// Received is called with the messages that a consumer receives, DeadLettered with messages that were moved to
	// dead-letter queues.
	Received(id queue.ID, at queue.Instant, messages []Message)
	DeadLettered(letters []queue.DeadLetter)
	// Returned is called with deliveries that did not reach the consumer.
	Returned(id queue.ID, deliveries []queue.Delivery)
	// Deleted and VisibilityChanged are called with the requested changes, and the results in the same order: nil, or
	// the reason of the refusal.
	Deleted(id queue.ID, at queue.Instant, receipts []queue.Receipt, results []error)
	VisibilityChanged(id queue.ID, at queue.Instant, changes []queue.Visibility, results []error)
	// Purged is called when a queue was purged or dropped.
	Purged(id queue.ID)
	// Close is called when the shard is closed or another node has become its owner.
	Close()
}

// watchTime returns the function that gives a watcher the time of the shard.
func watchTime(o *Options) func() queue.Instant {
	return func() queue.Instant {
		now := o.Now()
		if o.Shift != nil {
			now = now.Add(o.Shift())
		}
		return queue.At(now)
	}
}

// watch passes all later events to a watcher, which may be nil.
func (o *owner) watch(w Watcher) {
	if o.watcher = w; w != nil {
		o.engine.WatchDeadLetters()
	}
}

// tellOfDeadLetters passes the dead letters of the transaction to the watcher.
func (o *owner) tellOfDeadLetters() {
	if o.watcher == nil {
		return
	}
	if letters := o.engine.DeadLetters(); len(letters) > 0 {
		o.watcher.DeadLettered(letters)
	}
}
