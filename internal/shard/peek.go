package shard

import (
	"context"
	"fmt"

	"github.com/sluicemq/sluice/internal/queue"
)

// Peek looks into a queue without a receive: nothing that is in the queue changes. It looks for a bounded time, and says
// where to go on if that was not enough.
//
// The owner is asked only what the queue is. The messages are read by the goroutine of the caller, from what is durable at
// one moment, and it takes a small part of the machine while the shard is busy: see pacer.
func (s *Shard) Peek(ctx context.Context, id queue.ID, p queue.Peek) (queue.PeekResult, error) {
	look, err := call(ctx, s, func(e *queue.Engine) (queue.Look, error) { return e.Look(id) })
	if err != nil {
		return queue.PeekResult{}, err
	}
	s.reading.RLock()
	defer s.reading.RUnlock()
	select {
	case <-s.closed:
		return queue.PeekResult{}, s.ended()
	default:
	}
	walk, err := s.pacer.begin(ctx)
	if err != nil {
		return queue.PeekResult{}, err
	}
	defer walk.end()
	r := s.store.Reader()
	defer r.Close()
	found, err := look.Peek(r, &p, walk.proceed)
	if err != nil {
		s.log.Error("a queue cannot be looked into", "queue", id, "error", err)
		return queue.PeekResult{}, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if ctx.Err() != nil {
		return queue.PeekResult{}, context.Cause(ctx)
	}
	return found, nil
}
