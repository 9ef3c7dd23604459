package router

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Census counts messages by their values of a key, on one shard of the queue after the other, while there is time. It
// does not see messages that are moving from another shard.
func (r *Router) Census(ctx context.Context, id queue.ID, c queue.Census) (all queue.CensusResult, err error) {
	all.More, all.Next, err = r.inTurn(id, c.After, func(n int, after queue.PeekCursor) (turn, error) {
		c.After = after
		got, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.CensusResult, error) {
			return s.Census(ctx, id, c)
		})
		all.Add(got)
		return turn{more: got.More, next: got.Next}, err
	})
	if err != nil {
		return queue.CensusResult{}, err
	}
	return all, nil
}
