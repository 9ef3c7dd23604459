package server

import (
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// watch creates the watcher of a shard: it logs dead letters, and follows messages for spans if configured.
func (st *storage) watch(now func() queue.Instant) shard.Watcher {
	w := logWatcher{Watcher: noWatcher{}, letters: &st.letters}
	if tracer := st.config.Spans; tracer != nil {
		w.Watcher = tracer.Follow(st.queueARN, now)
	}
	return w
}

// logWatcher logs dead letters, and passes every event to another watcher.
type logWatcher struct {
	shard.Watcher
	letters *deadLetterLog
}

// DeadLettered implements shard.Watcher.
func (w logWatcher) DeadLettered(letters []queue.DeadLetter) {
	w.letters.write(letters)
	w.Watcher.DeadLettered(letters)
}

// noWatcher ignores every event.
type noWatcher struct{}

func (noWatcher) Received(queue.ID, queue.Instant, []shard.Message)                      {}
func (noWatcher) DeadLettered([]queue.DeadLetter)                                        {}
func (noWatcher) Returned(queue.ID, []queue.Delivery)                                    {}
func (noWatcher) Deleted(queue.ID, queue.Instant, []queue.Receipt, []error)              {}
func (noWatcher) VisibilityChanged(queue.ID, queue.Instant, []queue.Visibility, []error) {}
func (noWatcher) Purged(queue.ID)                                                        {}
func (noWatcher) Close()                                                                 {}

// queueARN returns the ARN of a queue that an account owns, or "".
func (st *storage) queueARN(id queue.ID) string {
	var q *catalog.Queue
	if c := st.catalog.Load(); c != nil {
		q = c.ByID(id)
	}
	if q == nil || q.Name.Internal() {
		return ""
	}
	return q.Name.ARN()
}
