package router

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// emptyReceives counts receives of clients that returned no messages. Only the router can count them, because a receive
// asks several shards and may ask a shard more than once. Once a second it reports them to one shard of the queue.
type emptyReceives struct {
	owners *owners
	place  func(queue.ID) (Placement, error)

	mu sync.Mutex
	n  map[queue.ID]uint64 // nil when there are none to report
}

const tellEmptyAfter = time.Second

// EmptyReceive counts a client's receive that returned no messages.
func (r *Router) EmptyReceive(id queue.ID) { r.empty.add(id, 1) }

// Used records that a client has used a queue without calling its shards.
func (r *Router) Used(id queue.ID) { r.empty.add(id, 0) }

func (e *emptyReceives) add(id queue.ID, n uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.n == nil {
		e.n = make(map[queue.ID]uint64)
		time.AfterFunc(tellEmptyAfter, e.tell)
	}
	e.n[id] += n
}

// tell reports empty receives to the shards. Those that a shard has certainly not taken are reported later, unless the
// queue has been deleted or the router is closed. After a lost answer they are given up: it is better to miss some than
// to count some twice.
func (e *emptyReceives) tell() {
	e.mu.Lock()
	counted := e.n
	e.n = nil
	e.mu.Unlock()
	for id, n := range counted {
		p, err := e.place(id)
		if err != nil {
			continue
		}
		_, err = callOnce(e.owners.closed, e.owners, p.Shards[0], func(ctx context.Context, s Shard) (struct{}, error) {
			return struct{}{}, s.EmptyReceives(ctx, id, n)
		})
		if errors.Is(err, shard.ErrNotBegun) && e.owners.closed.Err() == nil {
			e.add(id, n)
		}
	}
}
