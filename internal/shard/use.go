package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Uses returns the last use of some queues, as of one moment. It omits unknown queues.
func (s *Shard) Uses(ctx context.Context, ids []queue.ID) ([]queue.Use, error) {
	ids = ids[:min(len(ids), MaxGlances)]
	return call(ctx, s.inbox, func(e *queue.Engine) ([]queue.Use, error) {
		out := make([]queue.Use, 0, len(ids))
		for _, id := range ids {
			u, ok, err := e.Use(id)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if s.polls.of(id) > 0 {
				u.Last = e.Now()
			}
			out = append(out, u)
		}
		return out, nil
	})
}

// Used records that a client has used a queue without a call of the shard. It does not wait for a commit.
func (s *Shard) Used(id queue.ID) {
	s.send(newRequest(func(e *queue.Engine) error { return e.Used(id) }))
}
