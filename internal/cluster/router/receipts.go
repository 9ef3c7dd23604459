package router

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Delete removes messages. If one of their shards is unavailable, the results of its messages report it; if no shard is
// available, Delete returns the error.
func (r *Router) Delete(ctx context.Context, id queue.ID, receipts []queue.Receipt) ([]error, error) {
	return onShards(ctx, r, id, receipts, func(x *queue.Receipt) *queue.Position { return &x.Position }, Shard.Delete)
}

// ChangeVisibility changes visibility timeouts; it fails as Delete does.
func (r *Router) ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error) {
	return onShards(
		ctx, r, id, changes, func(x *queue.Visibility) *queue.Position { return &x.Position }, Shard.ChangeVisibility,
	)
}

// Return returns deliveries that did not reach the consumer.
func (r *Router) Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error {
	results, err := onShards(ctx, r, id, deliveries, func(x *queue.Delivery) *queue.Position { return &x.Position },
		func(s Shard, ctx context.Context, id queue.ID, part []queue.Delivery) ([]error, error) {
			return make([]error, len(part)), s.Return(ctx, id, part, attempt)
		})
	return errors.Join(append(results, err)...)
}

// returnTo returns deliveries of shard n, whose positions are the engine's own and whose consumer has gone, to the node
// that owns the shard by then. It implements remote.Options.Return.
func (r *Router) returnTo(ctx context.Context, n int, id queue.ID, deliveries []queue.Delivery, attempt string) error {
	return r.retryReturn(func() error {
		return r.exec(ctx, n, func(ctx context.Context, s Shard) error {
			return s.Return(ctx, id, deliveries, attempt)
		})
	})
}

// returnMessages is Return for messages that no consumer received.
func (r *Router) returnMessages(ctx context.Context, id queue.ID, messages []shard.Message, attempt string) error {
	deliveries := make([]queue.Delivery, len(messages))
	for i := range messages {
		deliveries[i] = messages[i].Delivery
	}
	return r.retryReturn(func() error { return r.Return(ctx, id, deliveries, attempt) })
}

// returnTimeout is how long a return waits for a shard to have an owner. No client waits meanwhile, and the shard of a
// dead node has a new owner sooner. After that time, the messages become visible when their visibility timeout ends.
const returnTimeout = 30 * time.Second

// retryReturn repeats a return while certainly no shard has done it.
func (r *Router) retryReturn(giveBack func() error) error {
	for end := time.Now().Add(returnTimeout); ; {
		err := giveBack()
		if !errors.Is(err, shard.ErrNotBegun) || r.closed.Err() != nil || time.Now().After(end) {
			return err
		}
	}
}

// onShards calls f with the entries of each shard, which is part of their positions,
// and returns the results in the order of the batch.
func onShards[E any](
	ctx context.Context, r *Router, id queue.ID, batch []E, position func(*E) *queue.Position,
	f func(s Shard, ctx context.Context, id queue.ID, part []E) ([]error, error),
) ([]error, error) {
	if _, err := r.place(id); err != nil {
		return nil, err
	}
	parts := divide(batch, func(x *E) int { _, n := decodeShard(*position(x)); return n })
	results := make([]error, len(batch))
	errs := each(parts, func(p part) error {
		entries := pick(batch, p)
		for i := range entries {
			at := position(&entries[i])
			*at, _ = decodeShard(*at)
		}
		some, err := call(ctx, r.owners, p.shard, func(ctx context.Context, s Shard) ([]error, error) {
			return f(s, ctx, id, entries)
		})
		for k, i := range p.entries {
			if results[i] = err; err == nil {
				results[i] = some[k]
			}
		}
		return err
	})
	err := firstSerious(errs)
	if err != nil && (!errors.Is(err, shard.ErrUnavailable) || !slices.Contains(errs, nil)) {
		return nil, err
	}
	return results, nil
}
