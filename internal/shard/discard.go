package shard

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// discardTime limits how long a call passes found messages to the owner.
const discardTime = time.Second

// Discard deletes messages by their ids, in any state.
//
//   - If More is false, each id that is not in the result was missing from the queue at some moment during the calls.
//   - The owner never searches. It deletes the messages that were found, a bounded number in each transaction.
//
// Discard first searches for the messages as Peek does. The owner then deletes them at the positions found. If a
// message has moved meanwhile, or the time was not enough for all, More is true, and the caller must repeat the search
// for the remaining ids.
func (s *Shard) Discard(ctx context.Context, id queue.ID, ask queue.Locate) (queue.Discarded, error) {
	found, err := look(ctx, s.readers, id, func(l *queue.Look, at snapshot) (queue.LocateResult, error) {
		return l.Locate(at.r, ask, at.proceed)
	})
	if err != nil {
		return queue.Discarded{}, err
	}
	out := queue.Discarded{Scanned: found.Scanned, More: found.More, Next: found.Next}
	if out.IDs, err = s.discard(ctx, id, found.Messages); err != nil {
		return queue.Discarded{}, err
	}
	if len(out.IDs) < len(found.Messages) {
		out.More, out.Next = true, ask.After
	}
	return out, nil
}

// discard deletes messages at the positions where they were found, in as many transactions as needed. It returns the
// ids of those that were still there.
func (s *Shard) discard(ctx context.Context, id queue.ID, list []queue.Located) (deleted []queue.MessageID, _ error) {
	for end := time.Now().Add(discardTime); len(list) > 0 && time.Now().Before(end); {
		var at queue.Instant
		results, err := call(ctx, s.inbox, func(e *queue.Engine) ([]bool, error) {
			at = e.Now()
			return e.Discard(id, list)
		})
		if err != nil {
			return nil, err
		}
		var gone []queue.Receipt
		for i, done := range results {
			if done {
				deleted = append(deleted, list[i].ID)
				gone = append(gone, queue.Receipt{Position: list[i].Position})
			}
		}
		if s.watcher != nil && len(gone) > 0 {
			s.watcher.Deleted(id, at, gone, make([]error, len(gone)))
		}
		list = list[len(results):]
	}
	return deleted, nil
}
