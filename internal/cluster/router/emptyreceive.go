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
	mu sync.Mutex
	n  map[queue.ID]uint64 // nil when there is none to report
}

const tellEmptyAfter = time.Second

// EmptyReceive counts a client's receive that returned no messages.
func (r *Router) EmptyReceive(id queue.ID) { r.countEmpty(id, 1) }

// Used records that a client has used a queue without calling its shards.
func (r *Router) Used(id queue.ID) { r.countEmpty(id, 0) }

func (r *Router) countEmpty(id queue.ID, n uint64) {
	r.empty.mu.Lock()
	defer r.empty.mu.Unlock()
	if r.empty.n == nil {
		r.empty.n = make(map[queue.ID]uint64)
		time.AfterFunc(tellEmptyAfter, r.tellEmpty)
	}
	r.empty.n[id] += n
}

// tellEmpty reports empty receives to the shards. Those that a shard has certainly not taken are reported later, unless
// the queue has been deleted or the router is closed. After a lost answer they are given up: it is better to miss some
// than to count some twice.
func (r *Router) tellEmpty() {
	r.empty.mu.Lock()
	counted := r.empty.n
	r.empty.n = nil
	r.empty.mu.Unlock()
	for id, n := range counted {
		p, err := r.place(id)
		if err != nil {
			continue
		}
		_, err = callOnce(r.closed, r, p.Shards[0], func(ctx context.Context, s Shard) (struct{}, error) {
			return struct{}{}, s.EmptyReceives(ctx, id, n)
		})
		if errors.Is(err, shard.ErrNotBegun) && r.closed.Err() == nil {
			r.countEmpty(id, n)
		}
	}
}
