package shard

import (
	"context"

	"github.com/sluicemq/sluice/internal/queue"
)

// Peek looks into a queue without a receive: nothing that is in the queue changes. It looks for a bounded time, and
// says where to go on if that was not enough.
//
// The owner is asked only what the queue is. The messages are read by the goroutine of the caller, from what is durable
// at one moment, and it takes a small part of the machine while the shard is busy: see pacer.
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
