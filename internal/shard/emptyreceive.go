package shard

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// emptyReceives counts receives of clients that returned no message. Clients do not wait for the count: the owner
// counts the receives in its next transaction. It writes the accumulated counts with the next change of the queue, or
// writeEmptyWithin after the first of them.
type emptyReceives struct {
	inbox *inbox

	mu    sync.Mutex
	n     map[queue.ID]uint64
	write *time.Timer // of the next write; nil if all are written
}

// writeEmptyWithin limits the age of empty receives that are lost when the process dies.
const writeEmptyWithin = time.Second

// add adds receives. They are written later.
func (r *emptyReceives) add(id queue.ID, n uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n == nil {
		r.n = make(map[queue.ID]uint64)
	}
	r.n[id] += n
	if r.write == nil {
		r.write = time.AfterFunc(writeEmptyWithin, r.writeNow)
	}
}

// begin reports whether there may be receives to write. Receives added after it need another call.
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

// count passes the receives to the engine.
func (r *emptyReceives) count(e *queue.Engine) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, n := range r.n {
		e.CountEmptyReceives(id, n)
	}
	clear(r.n)
}

// EmptyReceive counts a client's receive that returned no message. Receive does not count itself, because it may be
// part of a client's receive from several shards.
func (s *Shard) EmptyReceive(id queue.ID) { s.empty.add(id, 1) }

// EmptyReceives counts n such receives. Even if n is 0, the call records a use of the queue; see Used.
func (s *Shard) EmptyReceives(_ context.Context, id queue.ID, n uint64) error {
	if n == 0 {
		s.Used(id)
		return nil
	}
	s.empty.add(id, n)
	return nil
}

// writeNow lets the owner write the empty receives.
func (r *emptyReceives) writeNow() {
	if r.begin() {
		r.inbox.send(newEmptyWrite())
	}
}

// newEmptyWrite returns a request that writes the empty receives that the owner has counted so far.
func newEmptyWrite() *request {
	return newRequest(func(e *queue.Engine) error {
		e.WriteEmptyReceives()
		return nil
	})
}
