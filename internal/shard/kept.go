package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Kept describes the messages that the last purge of a queue has kept; see queue.Engine.
func (s *Shard) Kept(ctx context.Context, id queue.ID) (queue.Kept, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) (queue.Kept, error) { return e.Kept(id) })
}

// UndoPurge starts to restore the messages that the last purge of a queue has kept; see queue.Engine.
func (s *Shard) UndoPurge(ctx context.Context, id queue.ID) (queue.Kept, error) {
	return call(ctx, s.inbox, func(e *queue.Engine) (queue.Kept, error) { return e.UndoPurge(id) })
}

// MayUndoPurge returns the refusal that UndoPurge would give now; see queue.Engine.
func (s *Shard) MayUndoPurge(ctx context.Context, id queue.ID) error {
	return s.exec(ctx, func(e *queue.Engine) error { return e.MayUndoPurge(id) })
}

// ForgetPurged drops the messages that purges have kept. The store frees their space later.
func (s *Shard) ForgetPurged(ctx context.Context) error {
	return s.exec(ctx, func(e *queue.Engine) error { e.ForgetPurged(); return nil })
}
