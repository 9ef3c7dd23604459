package router

import (
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/queue"
)

// Discard deletes messages by their ids, on one shard of the queue after the other, while ids and time are left. It
// does not find messages that are moving from another shard.
func (r *Router) Discard(ctx context.Context, id queue.ID, ask queue.Locate) (all queue.Discarded, err error) {
	all.More, all.Next, err = r.inTurn(id, ask.After, func(n int, after queue.PeekCursor) (turn, error) {
		ask.After = after
		got, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.Discarded, error) {
			return s.Discard(ctx, id, ask)
		})
		if err != nil {
			return turn{}, err
		}
		all.IDs = append(all.IDs, got.IDs...)
		all.Scanned += got.Scanned
		ask.IDs = without(ask.IDs, got.IDs)
		return turn{more: got.More, next: got.Next, done: len(ask.IDs) == 0}, nil
	})
	if err != nil {
		return queue.Discarded{}, err
	}
	return all, nil
}

// without returns the ids that are not in gone.
func without(ids, gone []queue.MessageID) []queue.MessageID {
	return slices.DeleteFunc(slices.Clone(ids), func(id queue.MessageID) bool { return slices.Contains(gone, id) })
}
