package router

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
)

// Kept describes the messages that the last purge of a queue has kept, on all its shards.
func (r *Router) Kept(ctx context.Context, id queue.ID) (sum queue.Kept, err error) {
	p, err := r.place(id)
	if err != nil {
		return sum, err
	}
	all, err := gather(p.Shards, func(n int) (queue.Kept, error) {
		return call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.Kept, error) { return s.Kept(ctx, id) })
	})
	return addKept(all), err
}

// UndoPurge starts to restore the messages that the last purge of a queue has kept, on all its shards. It fails if it
// fails on one shard, and can then be called again: the other shards continue their undo. It returns
// queue.ErrNothingKept only when no shard has kept anything.
func (r *Router) UndoPurge(ctx context.Context, id queue.ID) (sum queue.Kept, err error) {
	p, err := r.place(id)
	if err != nil {
		return sum, err
	}
	all, err := gather(p.Shards, func(n int) (queue.Kept, error) {
		k, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.Kept, error) {
			return s.UndoPurge(ctx, id)
		})
		if errors.Is(err, queue.ErrNothingKept) {
			err = nil
		}
		return k, err
	})
	if sum = addKept(all); err == nil && sum.Since == 0 {
		err = queue.ErrNothingKept
	}
	return sum, err
}

// addKept makes one of what several shards have kept.
func addKept(all []queue.Kept) (sum queue.Kept) {
	for _, k := range all {
		if k.Since == 0 {
			continue
		}
		if sum.Since == 0 || k.Until < sum.Until {
			sum.Since, sum.Until = k.Since, k.Until
		}
		sum.Messages += k.Messages
		sum.Bytes += k.Bytes
		sum.Undoing = sum.Undoing || k.Undoing
	}
	return sum
}
