package router

import (
	"context"
	"errors"
	"slices"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Uses returns the use of some queues, summed over all shards with data of them. It omits a queue if one of these
// shards does not know the queue or is unavailable, because the sum would be wrong.
func (r *Router) Uses(ctx context.Context, ids []queue.ID) ([]queue.Use, error) {
	ids = ids[:min(len(ids), shard.MaxGlances)]
	places, at, shards := r.placed(ids)
	lists := each(shards, func(n int) []queue.Use {
		list, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]queue.Use, error) {
			return s.Uses(ctx, at[n])
		})
		if err != nil {
			return nil
		}
		return list
	})
	if ctx.Err() != nil {
		return nil, errors.Join(shard.ErrUnavailable, context.Cause(ctx))
	}
	sums := make(map[queue.ID]queue.Use, len(ids))
	told := make(map[queue.ID]int, len(ids)) // number of shards
	for _, u := range slices.Concat(lists...) {
		sum, begun := sums[u.ID]
		sums[u.ID] = queue.Use{
			ID: u.ID, Sealed: u.Sealed && (sum.Sealed || !begun), Messages: sum.Messages + u.Messages,
			Last: max(sum.Last, u.Last),
		}
		told[u.ID]++
	}
	var out []queue.Use
	for _, id := range ids {
		p, ok := places[id]
		if sum, begun := sums[id]; ok && begun && told[id] == len(p.all()) {
			out = append(out, sum)
		}
	}
	return out, nil
}
