package shard

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
)

// Ready waits until queues of subscriptions have available messages, and returns them. It returns a queue again if the
// queue was not available in between, or if the shard was loaded again. So the deliverer must receive from each queue
// until the queue is empty. A queue without messages costs nothing.
func (s *Shard) Ready(ctx context.Context) ([]queue.ID, error) {
	return s.deliverable.wait(ctx, s.inbox.closed)
}

// readyQueues are queues with pending work that wait has not yet returned. The zero value is ready to use.
type readyQueues struct {
	mu    sync.Mutex
	ids   map[queue.ID]bool
	added chan struct{} // closed when there are some; nil if no goroutine waits
}

// announce adds queues. Their work must already be durable.
func (r *readyQueues) announce(ids []queue.ID) {
	if len(ids) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ids == nil {
		r.ids = make(map[queue.ID]bool)
	}
	for _, id := range ids {
		r.ids[id] = true
	}
	if r.added != nil {
		close(r.added)
		r.added = nil
	}
}

// take returns the queues, or a channel that is closed when there are some.
func (r *readyQueues) take() ([]queue.ID, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ids) > 0 {
		ids := slices.Collect(maps.Keys(r.ids))
		clear(r.ids)
		return ids, nil
	}
	if r.added == nil {
		r.added = make(chan struct{})
	}
	return nil, r.added
}

// wait waits for queues until ctx ends or the shard is closed.
func (r *readyQueues) wait(ctx context.Context, closed <-chan struct{}) ([]queue.ID, error) {
	for {
		ids, added := r.take()
		if len(ids) > 0 {
			return ids, nil
		}
		select {
		case <-added:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-closed:
			return nil, ErrUnavailable
		}
	}
}
