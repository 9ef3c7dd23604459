package router

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// Discard deletes messages by their ids, on one shard of the queue after the other, while ids and time are left. It
// does not find messages that are moving from another shard.
func (r *Router) Discard(ctx context.Context, id queue.ID, ask queue.Locate) (queue.Discarded, error) {
	p, err := r.place(id)
	if err != nil {
		return queue.Discarded{}, err
	}
	shards := p.Shards
	if i := slices.Index(shards, ask.After.Shard); i >= 0 {
		shards = shards[i:]
	} else {
		ask.After = queue.PeekCursor{}
	}
	var all queue.Discarded
	end := time.Now().Add(peekTime)
	for i, n := range shards {
		got, err := call(ctx, r, n, func(ctx context.Context, s Shard) (queue.Discarded, error) {
			return s.Discard(ctx, id, ask)
		})
		if err != nil {
			return queue.Discarded{}, err
		}
		all.IDs = append(all.IDs, got.IDs...)
		all.Scanned += got.Scanned
		ask.IDs = without(ask.IDs, got.IDs)
		ask.After = queue.PeekCursor{}
		if got.More {
			all.More, all.Next = true, got.Next
			all.Next.Shard = n
			break
		}
		if i+1 == len(shards) || len(ask.IDs) == 0 {
			break
		}
		if time.Now().After(end) {
			all.More, all.Next = true, queue.PeekCursor{Shard: shards[i+1]}
			break
		}
	}
	return all, nil
}

// without returns the ids that are not in gone.
func without(ids, gone []queue.MessageID) []queue.MessageID {
	return slices.DeleteFunc(slices.Clone(ids), func(id queue.MessageID) bool { return slices.Contains(gone, id) })
}
