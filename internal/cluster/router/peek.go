package router

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

const (
	// A peek continues with the next shard of a queue until it has taken this time or found this number.
	peekTime  = time.Second
	peekBytes = 2 << 20
)

// Peek reads messages of a queue without receiving them: from one shard after the other, while there is time. It does
// not see messages that are moving from another shard.
func (r *Router) Peek(ctx context.Context, id queue.ID, q queue.Peek) (all queue.PeekResult, err error) {
	bytes := 0
	all.More, all.Next, err = r.inTurn(id, q.After, func(n int, after queue.PeekCursor) (turn, error) {
		q.After = after
		got, err := call(ctx, r.owners, n, func(ctx context.Context, s Shard) (queue.PeekResult, error) {
			return s.Peek(ctx, id, q)
		})
		if err != nil {
			return turn{}, err
		}
		for k := range got.Messages {
			m := &got.Messages[k]
			m.Position = encodeShard(m.Position, n)
			bytes += m.Message.Size()
		}
		all.Messages = append(all.Messages, got.Messages...)
		all.Scanned += got.Scanned
		q.Max -= len(got.Messages)
		return turn{more: got.More, next: got.Next, full: q.Max <= 0 || bytes > peekBytes}, nil
	})
	if err != nil {
		return queue.PeekResult{}, err
	}
	return all, nil
}
