package router

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

const (
	// A look continues with the next shard of a queue while it has taken less than this time and found less than this
	// number.
	peekTime  = time.Second
	peekBytes = 2 << 20
)

// Peek looks into a queue without a receive: into one of its shards after the other, while there is time. It does not
// see messages that are moving from another shard.
func (r *Router) Peek(ctx context.Context, id queue.ID, q queue.Peek) (queue.PeekResult, error) {
	p, err := r.place(id)
	if err != nil {
		return queue.PeekResult{}, err
	}
	shards := p.Shards
	if i := slices.Index(shards, q.After.Shard); i >= 0 {
		shards = shards[i:]
	} else {
		q.After = queue.PeekCursor{}
	}
	var all queue.PeekResult
	bytes, end := 0, time.Now().Add(peekTime)
	for i, n := range shards {
		got, err := call(ctx, r, n, func(ctx context.Context, s Shard) (queue.PeekResult, error) { return s.Peek(ctx, id, q) })
		if err != nil {
			return queue.PeekResult{}, err
		}
		for k := range got.Messages {
			m := &got.Messages[k]
			m.Position = encodeShard(m.Position, n)
			bytes += m.Message.Size()
		}
		all.Messages = append(all.Messages, got.Messages...)
		all.Scanned += got.Scanned
		q.Max -= len(got.Messages)
		q.After = queue.PeekCursor{}
		if got.More {
			all.More, all.Next = true, got.Next
			all.Next.Shard = n
			break
		}
		if i+1 < len(shards) && (q.Max <= 0 || bytes > peekBytes || time.Now().After(end)) {
			all.More, all.Next = true, queue.PeekCursor{Shard: shards[i+1]}
			break
		}
	}
	return all, nil
}
