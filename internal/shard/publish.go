package shard

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// Publish accepts publications; see queue.Engine. When it returns, all copies are durable, or none. It waits while too
// many copies of earlier publications are still to be made; the accounts of the topics take turns. If ctx ends during
// this wait, nothing was done.
func (s *Shard) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	if queue.AtOnce(publications) || !s.room.crowded() {
		published, err := s.publish(ctx, publications)
		if !errors.Is(err, queue.ErrBacklogFull) {
			return published, err
		}
	}
	give, err := s.room.turn(ctx, queue.TopicAccount(publications))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotBegun, err)
	}
	defer give()
	return s.publishWithRoom(ctx, publications)
}

// publish accepts publications, unless there is no room for them.
func (s *Shard) publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	published, err := call(ctx, s.inbox, func(e *queue.Engine) ([]queue.Published, error) {
		return e.Publish(publications)
	})
	if errors.Is(err, queue.ErrNotKnown) {
		return nil, fmt.Errorf("%w: %w", ErrNotBegun, err)
	}
	return published, err
}

// publishWithRoom accepts publications as soon as there is room for them.
func (s *Shard) publishWithRoom(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	for {
		room := s.room.next()
		published, err := s.publish(ctx, publications)
		if !errors.Is(err, queue.ErrBacklogFull) {
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

// backlogRoom lets publishers wait until there is room in the engine's backlog.
type backlogRoom struct {
	turns *fairshare.Places // a single place, for the publisher that gets the room
	here  atomic.Int32      // publishers that have the place, or wait for it

	mu      sync.Mutex
	waiting chan struct{} // nil if no publisher waits
}

func newBacklogRoom() *backlogRoom {
	return &backlogRoom{turns: fairshare.New(fairshare.Options{Places: 1})}
}

// crowded reports whether publishers wait.
func (r *backlogRoom) crowded() bool { return r.here.Load() > 0 }

// turn waits for the turn of an account to get room. It returns a function that ends the turn.
func (r *backlogRoom) turn(ctx context.Context, account string) (end func(), err error) {
	r.here.Add(1)
	give, err := r.turns.Take(ctx, account)
	if err != nil {
		r.here.Add(-1)
		return nil, err
	}
	return func() {
		give()
		r.here.Add(-1)
	}, nil
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
