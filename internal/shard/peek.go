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
	look, err := call(ctx, s, func(e *queue.Engine) (queue.Look, error) { return e.Look(id) })
	if err != nil {
		return queue.PeekResult{}, err
	}
	look.Cipher = s.cipher
	var found queue.PeekResult
	err = s.walk(ctx, look.Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		found, err = look.Peek(r, &p, proceed)
		return err
	})
	return found, err
}

// Census counts messages of a queue by their values of a key. It reads them as Peek does.
func (s *Shard) Census(ctx context.Context, id queue.ID, c queue.Census) (queue.CensusResult, error) {
	look, err := call(ctx, s, func(e *queue.Engine) (queue.Look, error) { return e.Look(id) })
	if err != nil {
		return queue.CensusResult{}, err
	}
	look.Cipher = s.cipher
	var found queue.CensusResult
	err = s.walk(ctx, look.Account(), func(r queue.Reader, proceed func(int) bool) (err error) {
		found, err = look.Census(r, &c, proceed)
		return err
	})
	return found, err
}
