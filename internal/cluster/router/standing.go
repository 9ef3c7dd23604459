package router

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Standings returns how the queues stand in the shards that this node owns. A queue that is
// spread over several of them is there once for each.
func (r *Router) Standings(ctx context.Context) (all []queue.Standing, err error) {
	for n := range r.Shards() {
		here, _, err := r.Owner(n + 1)
		own, ok := here.(interface {
			Standings(ctx context.Context) ([]queue.Standing, error)
		})
		if err != nil || !ok {
			continue // it is another node's
		}
		some, err := own.Standings(ctx)
		if err != nil && !errors.Is(err, shard.ErrUnavailable) {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
