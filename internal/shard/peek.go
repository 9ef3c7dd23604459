package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Peek reads messages of a queue without receiving them: nothing in the queue changes. It searches for a limited time,
// and returns where to continue.
//
// The owner only describes the queue. The goroutine of the caller reads the messages from a snapshot, and uses a small
// part of the machine while the shard is busy; see pacer.
func (s *Shard) Peek(ctx context.Context, id queue.ID, p queue.Peek) (queue.PeekResult, error) {
	return look(ctx, s.readers, id, func(l *queue.Look, at snapshot) (queue.PeekResult, error) {
		return l.Peek(at.r, &p, at.proceed)
	})
}

// Census counts messages of a queue by their values of a key. It reads them as Peek does.
func (s *Shard) Census(ctx context.Context, id queue.ID, c queue.Census) (queue.CensusResult, error) {
	return look(ctx, s.readers, id, func(l *queue.Look, at snapshot) (queue.CensusResult, error) {
		return l.Census(at.r, &c, at.proceed)
	})
}
