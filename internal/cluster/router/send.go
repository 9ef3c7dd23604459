package router

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Send accepts messages. A batch for a standard queue stays together on one shard.
// A batch for a FIFO queue is divided among the shards of its message groups; if a
// part fails, Send fails: the client sends the batch again, and its deduplication ids
// keep the other parts from counting twice.
func (r *Router) Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	p, err := r.place(id)
	switch {
	case err != nil:
		return nil, err
	case len(p.Sends) == 1:
		return r.sendTo(ctx, p.Sends[0], id, messages)
	case p.FIFO:
		return r.sendGroups(ctx, &p, id, messages)
	}
	return r.sendAny(ctx, &p, id, messages)
}

func (r *Router) sendTo(ctx context.Context, n int, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error) {
	return call(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]queue.Sent, error) {
		return s.Send(ctx, id, messages)
	})
}

// sendAny sends to one of the shards, and to another if the first has certainly done nothing: sends succeed while one
// of the shards has an owner.
func (r *Router) sendAny(
	ctx context.Context, p *Placement, id queue.ID, messages []queue.Outgoing,
) ([]queue.Sent, error) {
	return retryUntilOwned(ctx, r.owners, p.Sends, func() (sent []queue.Sent, err error) {
		for _, n := range r.preferred(p.Sends) {
			sent, err = callOnce(ctx, r.owners, n, func(ctx context.Context, s Shard) ([]queue.Sent, error) {
				return s.Send(ctx, id, messages)
			})
			if !errors.Is(err, shard.ErrNotBegun) {
				break
			}
		}
		return sent, err
	})
}

// sendGroups sends each message to the shard of its group, in order.
func (r *Router) sendGroups(
	ctx context.Context, p *Placement, id queue.ID, messages []queue.Outgoing,
) ([]queue.Sent, error) {
	parts := divide(messages, func(m *queue.Outgoing) int { return p.home(m.Group) })
	out := make([]queue.Sent, len(messages))
	err := firstSerious(each(parts, func(part part) error {
		sent, err := r.sendTo(ctx, part.shard, id, pick(messages, part))
		for k := range sent {
			out[part.entries[k]] = sent[k]
		}
		return err
	}))
	if err != nil {
		return nil, err
	}
	return out, nil
}
