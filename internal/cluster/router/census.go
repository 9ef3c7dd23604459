package router

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Census counts messages by their values of a key, on one shard of the queue after the other, while there is time. It
// does not see messages that are moving from another shard.
func (r *Router) Census(ctx context.Context, id queue.ID, c queue.Census) (queue.CensusResult, error) {
	p, err := r.place(id)
	if err != nil {
		return queue.CensusResult{}, err
	}
	shards := p.Shards
	if i := slices.Index(shards, c.After.Shard); i >= 0 {
		shards = shards[i:]
	} else {
		c.After = queue.PeekCursor{}
	}
	var all queue.CensusResult
	end := time.Now().Add(peekTime)
	for i, n := range shards {
		got, err := call(ctx, r, n, func(ctx context.Context, s Shard) (queue.CensusResult, error) {
			return s.Census(ctx, id, c)
		})
		if err != nil {
			return queue.CensusResult{}, err
		}
		all.Add(got)
		c.After = queue.PeekCursor{}
		if got.More {
			all.More, all.Next = true, got.Next
			all.Next.Shard = n
			break
		}
		if i+1 < len(shards) && time.Now().After(end) {
			all.More, all.Next = true, queue.PeekCursor{Shard: shards[i+1]}
			break
		}
	}
	return all, nil
}
