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

// UndoPurge starts to restore the messages that the last purge of a queue has kept, on all its shards. A refusal of one
// shard changes nothing on the others. If a shard fails, UndoPurge can be called again: the others continue. It returns
// queue.ErrNothingKept only when no shard has kept anything.
func (r *Router) UndoPurge(ctx context.Context, id queue.ID) (sum queue.Kept, err error) {
	p, err := r.place(id)
	if err != nil {
		return sum, err
	}
	if err := r.mayUndoPurge(ctx, &p, id); err != nil {
		return sum, err
	}
	all, err := gather(p.Shards, func(n int) (queue.Kept, error) {
		k, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.Kept, error) {
			return s.UndoPurge(ctx, id)
		})
		return k, unlessNothingKept(err)
	})
	if sum = addKept(all); err == nil && sum.Since == 0 {
		err = queue.ErrNothingKept
	}
	return sum, err
}

// mayUndoPurge returns the refusal of a shard before the undo begins on the others. A shard that does not refuse
// promises to begin; see queue.Engine. A shard that has kept nothing refuses nothing.
func (o *owners) mayUndoPurge(ctx context.Context, p *Placement, id queue.ID) error {
	if len(p.Shards) == 1 {
		return nil
	}
	return firstSerious(each(p.Shards, func(n int) error {
		return unlessNothingKept(o.exec(ctx, n, func(ctx context.Context, s Shard) error {
			return s.MayUndoPurge(ctx, id)
		}))
	}))
}

func unlessNothingKept(err error) error {
	if errors.Is(err, queue.ErrNothingKept) {
		return nil
	}
	return err
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
