package router

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// glanceTimeout is how long a list of queues waits for a shard. It is short because people refresh lists.
const glanceTimeout = 1500 * time.Millisecond

// Glances returns the summaries of some queues, from each shard that has data of them. It calls all shards at the same
// time, each once for all its queues. If one of a queue's shards does not answer, a Glance of the queue reports that.
func (r *Router) Glances(ctx context.Context, ids []queue.ID) ([]shard.Glance, error) {
	ids = ids[:min(len(ids), shard.MaxGlances)]
	places, at, shards := r.placed(ids)
	within, cancel := context.WithTimeout(ctx, glanceTimeout)
	defer cancel()
	lists := each(shards, func(n int) []shard.Glance {
		list, err := call(within, r.owners, n, func(ctx context.Context, s Shard) ([]shard.Glance, error) {
			return s.Glances(ctx, at[n])
		})
		if err != nil {
			list = unavailable(at[n])
		}
		return slices.DeleteFunc(list, func(g shard.Glance) bool {
			p := places[g.ID]
			return g.Unavailable && !slices.Contains(p.Shards, n) // only the messages moving from there are unknown
		})
	})
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return slices.Concat(lists...), nil
}

// placed returns the placements of the known queues, the queues by shard, and these shards, in order.
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
