package router

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// glanceTimeout is how long a list of queues waits for a shard: people look at it again and again.
const glanceTimeout = 1500 * time.Millisecond

// Glances returns what lists show of some queues, on each shard that has something of them. All shards are asked at the
// same time, each once for all its queues. Of a queue that one of its shards does not tell of, there is a Glance that
// says so.
func (r *Router) Glances(ctx context.Context, ids []queue.ID) ([]shard.Glance, error) {
	ids = ids[:min(len(ids), shard.MaxGlances)]
	places, at, shards := r.placed(ids)
	within, cancel := context.WithTimeout(ctx, glanceTimeout)
	defer cancel()
	lists := each(shards, func(n int) []shard.Glance {
		list, err := call(within, r, n, func(ctx context.Context, s Shard) ([]shard.Glance, error) { return s.Glances(ctx, at[n]) })
		if err != nil {
			list = unavailable(at[n])
		}
		return slices.DeleteFunc(list, func(g shard.Glance) bool {
			p := places[g.ID]
			return g.Unavailable && !slices.Contains(p.Shards, n) // only what is on its way from there is not known
		})
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(lists...), nil
}

// placed returns where queues are, those that are not known left out; which of them each shard has something of; and
// these shards, in order.
func (r *Router) placed(ids []queue.ID) (places map[queue.ID]Placement, at map[int][]queue.ID, shards []int) {
	places, at = make(map[queue.ID]Placement, len(ids)), make(map[int][]queue.ID)
	for _, id := range ids {
		p, ok := r.Queue(id)
		if !ok {
			continue
		}
		places[id] = p
		for _, n := range p.all() {
			at[n] = append(at[n], id)
		}
	}
	return places, at, slices.Sorted(maps.Keys(at))
}

func unavailable(ids []queue.ID) []shard.Glance {
	out := make([]shard.Glance, len(ids))
	for i, id := range ids {
		out[i] = shard.Glance{ID: id, Unavailable: true}
	}
	return out
}
