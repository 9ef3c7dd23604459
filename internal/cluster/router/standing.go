package router

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// ownShard holds the methods of a shard that only its own node calls.
type ownShard interface {
	Standings(ctx context.Context) ([]queue.Standing, error)
	TopicStandings(ctx context.Context) ([]queue.TopicStanding, error)
	Stored(ctx context.Context, accounts map[string]bool) (map[string]shard.Stored, error)
}

// Stored returns how much data of some accounts is on the shards that this node owns; see shard.Shard.Stored.
func (r *Router) Stored(ctx context.Context, accounts map[string]bool) (map[string]shard.Stored, error) {
	lists, err := ofOwnShards(r, func(s ownShard) ([]map[string]shard.Stored, error) {
		one, err := s.Stored(ctx, accounts)
		return []map[string]shard.Stored{one}, err
	})
	sum := make(map[string]shard.Stored)
	for _, one := range lists {
		for account, n := range one {
			sum[account] = shard.Stored{
				Messages: sum[account].Messages + n.Messages, Bytes: sum[account].Bytes + n.Bytes,
			}
		}
	}
	return sum, err
}

// Standings returns the state of the queues on the shards that this node owns. A queue on several of them appears once
// for each.
func (r *Router) Standings(ctx context.Context) ([]queue.Standing, error) {
	return ofOwnShards(r, func(s ownShard) ([]queue.Standing, error) { return s.Standings(ctx) })
}

// TopicStandings returns the counters of topics on the shards that this node owns. A topic on several of them appears
// once for each.
func (r *Router) TopicStandings(ctx context.Context) ([]queue.TopicStanding, error) {
	return ofOwnShards(r, func(s ownShard) ([]queue.TopicStanding, error) { return s.TopicStandings(ctx) })
}

// ofOwnShards asks the shards that this node owns.
func ofOwnShards[T any](r *Router, ask func(ownShard) ([]T, error)) (all []T, err error) {
	for n := range r.Shards() {
		here, _, err := r.Owner(n + 1)
		own, ok := here.(ownShard)
		if err != nil || !ok {
			continue // another node owns it
		}
		some, err := ask(own)
		if err != nil && !errors.Is(err, shard.ErrUnavailable) {
			return nil, err
		}
		all = append(all, some...)
	}
	return all, nil
}
