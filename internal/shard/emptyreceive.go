package shard

import (
	"context"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
)

// emptyReceives are receives of clients that gave nothing. Their clients do not wait for
// them to be counted: the owner counts them with its next transaction.
type emptyReceives struct {
	mu sync.Mutex
	n  map[queue.ID]uint64
}

func (r *emptyReceives) add(id queue.ID, n uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == nil {
		r.n = make(map[queue.ID]uint64)
	}
	r.n[id] += n
}

// count tells the engine.
func (r *emptyReceives) count(e *queue.Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, n := range r.n {
		e.CountEmptyReceives(id, n)
	}
	clear(r.n)
}

// EmptyReceive counts that a client's receive gave nothing. A receive does not count
// itself: it may be a part of what a client asked for, in one of several shards.
func (s *Shard) EmptyReceive(id queue.ID) { s.empty.add(id, 1) }

// EmptyReceives counts several such receives. If there are none, a client has used the queue all the same; see Used.
func (s *Shard) EmptyReceives(_ context.Context, id queue.ID, n uint64) error {
	if n == 0 {
		s.Used(id)
		return nil
	}
	s.empty.add(id, n)
	return nil
}
