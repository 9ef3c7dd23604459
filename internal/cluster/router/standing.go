package router

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// ownShard is what a shard tells its own node only.
type ownShard interface {
	Standings(ctx context.Context) ([]queue.Standing, error)
	TopicStandings(ctx context.Context) ([]queue.TopicStanding, error)
}

// Standings returns how the queues stand in the shards that this node owns. A queue that is
// spread over several of them is there once for each.
func (r *Router) Standings(ctx context.Context) ([]queue.Standing, error) {
	return ofOwnShards(r, func(s ownShard) ([]queue.Standing, error) { return s.Standings(ctx) })
}

// TopicStandings returns what the shards that this node owns have counted of topics. A topic that several of them have
// counted is there once for each.
func (r *Router) TopicStandings(ctx context.Context) ([]queue.TopicStanding, error) {
	return ofOwnShards(r, func(s ownShard) ([]queue.TopicStanding, error) { return s.TopicStandings(ctx) })
}

// ofOwnShards asks the shards that this node owns.
func ofOwnShards[T any](r *Router, ask func(ownShard) ([]T, error)) (all []T, err error) {
	for n := range r.Shards() {
		here, _, err := r.Owner(n + 1)
		own, ok := here.(ownShard)
		if err != nil || !ok {
			continue // it is another node's
		}
		some, err := ask(own)
		if err != nil && !errors.Is(err, shard.ErrUnavailable) {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
