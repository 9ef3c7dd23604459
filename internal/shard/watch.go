package shard

import "github.com/sluicemq/sluice/internal/queue"

// Watcher receives what happens to the messages of a shard, when it is durable. Its methods may be called from any
// goroutine. They must not block, because callers of the shard wait for them.
type Watcher interface {
	// Received is called with the messages that a consumer gets, DeadLettered with those that have gone to dead-letter
	// queues.
	Received(id queue.ID, at queue.Instant, messages []Message)
	DeadLettered(letters []queue.DeadLetter)
	// Returned is called with deliveries that did not reach the consumer.
	Returned(id queue.ID, deliveries []queue.Delivery)
	// Deleted and VisibilityChanged are called with the requested changes and the results in the same order: nil, or
	// why the change was refused.
	Deleted(id queue.ID, at queue.Instant, receipts []queue.Receipt, results []error)
	VisibilityChanged(id queue.ID, at queue.Instant, changes []queue.Visibility, results []error)
	// Purged is called when a queue was purged or dropped.
	Purged(id queue.ID)
	// Close is called when the shard is closed, or belongs to another node, which continues with its messages.
	Close()
}

// watch creates the watcher.
func (s *Shard) watch(o *Options) {
	if o.Watch == nil {
		return
	}
	s.watcher = o.Watch(func() queue.Instant {
		now := o.Now()
		if o.Shift != nil {
			now = now.Add(o.Shift())
		}
		return queue.At(now)
	})
	if s.watcher != nil {
		s.engine.WatchDeadLetters()
	}
}

// tellOfDeadLetters passes the dead letters of the transaction to the watcher.
func (s *Shard) tellOfDeadLetters() {
	if s.watcher == nil {
		return
	}
	if letters := s.engine.DeadLetters(); len(letters) > 0 {
		s.watcher.DeadLettered(letters)
	}
}
