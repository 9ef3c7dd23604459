package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Publish accepts publications; see queue.Engine. All their copies are durable when it
// returns, or none.
func (s *Shard) Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error) {
	return call(ctx, s, func(e *queue.Engine) ([]queue.Published, error) { return e.Publish(publications) })
}
