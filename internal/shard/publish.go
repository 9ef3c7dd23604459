package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
)

// Publish accepts publications; see queue.Engine. When it returns, all copies are durable, or none. It waits while too
// many copies of earlier publications are still to be made. If ctx ends during this wait, nothing was done.
func (s *Shard) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	for {
		room := s.room.next()
		published, err := call(ctx, s.inbox, func(e *queue.Engine) ([]queue.Published, error) {
			return e.Publish(publications)
		})
		switch {
		case errors.Is(err, queue.ErrNotKnown):
			return nil, fmt.Errorf("%w: %w", ErrNotBegun, err)
		case !errors.Is(err, queue.ErrBacklogFull):
			return published, err
		}
		select {
		case <-room:
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrNotBegun, err)
		case <-s.inbox.closed:
			return nil, s.inbox.ended()
		}
	}
}

// backlogRoom lets publishers wait until there is room in the engine's backlog. The zero
// value is ready to use.
type backlogRoom struct {
	mu      sync.Mutex
	waiting chan struct{} // nil if no publisher waits
}

// next returns a channel that is closed when there is room after now.
func (r *backlogRoom) next() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting == nil {
		r.waiting = make(chan struct{})
	}
	return r.waiting
}

// open announces room.
func (r *backlogRoom) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting != nil {
		close(r.waiting)
		r.waiting = nil
	}
}
