package shard

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
)

// departing are the away queues that have begun to hold messages and of which
// nobody has been told yet. The zero value is ready to use.
type departing struct {
	mu    sync.Mutex
	ids   map[queue.ID]bool
	begun chan struct{} // of those who wait; closed when there are some
}

// announce is called when what the queues hold is durable.
func (d *departing) announce(ids []queue.ID) {
	if len(ids) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ids == nil {
		d.ids = make(map[queue.ID]bool)
	}
	for _, id := range ids {
		d.ids[id] = true
	}
	if d.begun != nil {
		close(d.begun)
		d.begun = nil
	}
}

// take returns those that there are, or what is closed when there are some.
func (d *departing) take() ([]queue.ID, <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.ids) > 0 {
		ids := slices.Collect(maps.Keys(d.ids))
		clear(d.ids)
		return ids, nil
	}
	if d.begun == nil {
		d.begun = make(chan struct{})
	}
	return nil, d.begun
}

// Departing waits until there are away queues that have begun to hold messages,
// and returns them. It names a queue again when that has been empty in between,
// and when the shard has had to be loaded again.
func (s *Shard) Departing(ctx context.Context) ([]queue.ID, error) {
	for {
		ids, begun := s.departing.take()
		if len(ids) > 0 {
			return ids, nil
		}
		select {
		case <-begun:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.closed:
			return nil, ErrUnavailable
		}
	}
}

// Departures returns the first messages that wait in an away queue: at most so
// many, and of all but the first at most so many bytes. There are none in a
// queue that does not exist.
func (s *Shard) Departures(ctx context.Context, id queue.ID, most, bytes int) ([]queue.Arriving, error) {
	type line struct {
		from queue.Position
		n    uint64
	}
	s.reading.RLock()
	defer s.reading.RUnlock()
	l, err := ask(ctx, s, func(e *queue.Engine) (l line, err error) {
		l.from, l.n, err = e.Departures(id)
		return l, err
	})
	if errors.Is(err, queue.ErrNoQueue) {
		return nil, nil
	}
	if l.n == 0 || err != nil {
		return nil, err
	}
	return queue.ReadDepartures(s.store, id, l.from, most, bytes)
}

// Departed removes the messages of an away queue up to a position, because they
// have arrived. That the queue does not exist any more is no error.
func (s *Shard) Departed(ctx context.Context, id queue.ID, upTo queue.Position) error {
	err := s.do(ctx, func(e *queue.Engine) error { return e.Departed(id, upTo) })
	if errors.Is(err, queue.ErrNoQueue) {
		return nil
	}
	return err
}

// Arrive admits messages that come from another shard; see queue.Engine. A call
// whose outcome is unknown can be repeated.
func (s *Shard) Arrive(ctx context.Context, id queue.ID, from queue.Source, messages []queue.Arriving) error {
	return s.do(ctx, func(e *queue.Engine) error { return e.Arrive(id, from, messages) })
}
