package router

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Deliver passes messages from the outbox of a shard to the shards that serve their queue; it implements shard.Deliver.
// A message goes to the same shard each time: in a FIFO queue to the shard of its group, in a standard queue to the
// first shard, because the number of the others may change between two attempts.
func (r *Router) Deliver(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	p, err := r.place(id)
	if err != nil {
		return err
	}
	parts := divide(messages, func(m *queue.Transfer) int {
		if p.FIFO {
			return p.home(m.Message.Group)
		}
		return p.Shards[0]
	})
	return firstSerious(each(parts, func(part part) error {
		return r.exec(ctx, part.shard, func(ctx context.Context, s Shard) error {
			return s.Accept(ctx, id, from, pick(messages, part))
		})
	}))
}
