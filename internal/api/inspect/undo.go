package inspect

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tenant"
)

// undoState describes the messages of a queue's last purge that an undo can restore.
type undoState struct {
	Messages        int64 // that are kept
	PurgedTimestamp int64 // milliseconds, as the next
	UntilTimestamp  int64 // the purge can be undone before
	Running         bool  `json:",omitempty"` // the messages are coming back
}

func showKept(k queue.Kept) *undoState {
	if k.Since == 0 {
		return nil
	}
	return &undoState{
		Messages: int64(k.Messages), PurgedTimestamp: int64(k.Since), UntilTimestamp: int64(k.Until),
		Running: k.Undoing,
	}
}

// undoPurge restores the messages that the last purge of a queue has removed. If they are few, they are restored before
// the answer; otherwise a little later.
func (s *inspector) undoPurge(ctx context.Context, c *protocol.Call, in *queueInput) (*undoState, error) {
	q, err := s.queue(c, in.QueueUrl, "UndoPurge")
	if err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	entry, err := s.admitKept(ctx, q)
	if err != nil {
		return nil, err
	}
	k, err := s.shard.UndoPurge(ctx, q.ID)
	entry.End(true) // even if that is unknown
	switch {
	case errors.Is(err, queue.ErrNothingKept):
		return nil, protocol.ValidationError(
			"No purge of the queue %s can be undone: it was not purged in the last 10 minutes, it had no messages, "+
				"or the disk was nearly full.", q.Name.Queue,
		)
	case errors.Is(err, queue.ErrTaskRunning):
		return nil, protocol.ValidationError(
			"A redrive task moves messages of the queue %s. Wait for its end or cancel it first.", q.Name.Queue,
		)
	case errors.Is(err, queue.ErrOverLimit):
		return nil, protocol.ValidationError(
			"The queue %s would have more received messages than it may. Delete some first.", q.Name.Queue,
		)
	case err != nil:
		return nil, failure(err)
	}
	return showKept(k), nil
}

// admitKept adds the messages that an undo restores to the stored bytes of the queue's account. Their size is the last
// measurement before the purge; without a limit of bytes there are no measurements.
func (s *inspector) admitKept(ctx context.Context, q *catalog.Queue) (tenant.Entry, error) {
	if !s.tenants.Any() {
		return tenant.Entry{}, nil
	}
	k, err := s.shard.Kept(ctx, q.ID)
	if err != nil {
		return tenant.Entry{}, failure(err)
	}
	if k.Since == 0 || k.Undoing {
		return tenant.Entry{}, nil
	}
	kept := tenant.Amount{Messages: int64(k.Messages), Bytes: int64(k.Bytes)}
	entry, err := s.tenants.Store(ctx, q.Name.Account, kept)
	if r, ok := errors.AsType[*tenant.Refusal](err); ok {
		return entry, errors.Join(protocol.ValidationError(
			"The account would store more than it may: it has a limit of %d %s. Delete messages first.",
			r.Limit, r.Kind.Unit(),
		), err)
	}
	return entry, err
}
