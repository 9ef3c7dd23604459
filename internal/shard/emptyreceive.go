package shard

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// emptyReceives are receives of clients that gave nothing. Their clients do not wait for
// them to be counted: the owner counts them with its next transaction. It writes them with
// the next change of the queue, and within writeEmptyWithin of the first at the latest, all
// that have come meanwhile at once.
type emptyReceives struct {
	mu    sync.Mutex
	n     map[queue.ID]uint64
	write *time.Timer // of the next write; nil if all are written
}

// writeEmptyWithin is how long an empty receive may be lost if the process dies.
const writeEmptyWithin = time.Second

// add adds receives. write is called later, unless it already will be.
func (r *emptyReceives) add(id queue.ID, n uint64, write func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == nil {
		r.n = make(map[queue.ID]uint64)
	}
	r.n[id] += n
	if r.write == nil {
		r.write = time.AfterFunc(writeEmptyWithin, write)
	}
}

// begin reports whether there may be some to write. Those that come from now on are written later.
func (r *emptyReceives) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.write == nil {
		return false
	}
	r.write.Stop()
	r.write = nil
	return true
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
func (s *Shard) EmptyReceive(id queue.ID) { s.empty.add(id, 1, s.writeEmpty) }

// EmptyReceives counts several such receives. If there are none, a client has used the queue all the same; see Used.
func (s *Shard) EmptyReceives(_ context.Context, id queue.ID, n uint64) error {
	if n == 0 {
		s.Used(id)
		return nil
	}
	s.empty.add(id, n, s.writeEmpty)
	return nil
}

// writeEmpty has the owner write the empty receives.
func (s *Shard) writeEmpty() {
	if s.empty.begin() {
		s.send(newEmptyWrite())
	}
}

// newEmptyWrite returns a request that writes the empty receives which the owner has counted before it.
func newEmptyWrite() *request {
	return newRequest(func(e *queue.Engine) error {
		e.WriteEmptyReceives()
		return nil
	})
}
