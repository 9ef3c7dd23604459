package inspect

import (
	"context"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

type deleteMessagesInput struct {
	QueueUrl   string   `max:"2048"`
	MessageIds []string `max:"1000,64"`
	Cursor     string   `max:"256"` // of the answer before; empty: from the beginning
}

type deleteMessagesOutput struct {
	Results []deleteResult `json:",always"`
	Cursor  string         `json:",omitempty"` // where to continue with ids without a result; empty: all have one
	Scanned int64          // messages that this call has read
	Total   int64          // messages that the queue had before
}

// deleteResult is the outcome for one message.
type deleteResult struct {
	MessageId string
	Outcome   string // Deleted or NotFound
}

// deleteMessages deletes messages by their ids, without a receive: visible, in flight, delayed, or blocked in their
// groups. It searches for a bounded time, as PeekMessages does; a cursor means that it has not reached the end.
//
// It needs what DeleteMessage needs in SQS, too: a caller that may not delete cannot do it this way.
func (s *inspector) deleteMessages(
	ctx context.Context,
	c *protocol.Call,
	in *deleteMessagesInput,
) (*deleteMessagesOutput, error) {
	if service.Anonymous(c) {
		return nil, service.Denied(c)
	}
	ids, err := messageIDs(in.MessageIds)
	if err != nil {
		return nil, err
	}
	after, ok := cursor(in.Cursor, queue.DecodePeekCursor)
	if !ok {
		return nil, errCursor()
	}
	q, err := s.queue(c, in.QueueUrl, "DeleteMessages")
	if err != nil {
		return nil, err
	}
	if err := s.messages.Authorize(c, subject(q.Name, q), "sqs:DeleteMessage"); err != nil {
		return nil, err
	}
	if len(ids) == 0 {
		return nil, protocol.ValidationError("MessageIds is empty; it must have 1 to 1000 ids.")
	}
	n, err := s.shard.Counts(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	done, err := s.shard.Discard(ctx, q.ID, queue.Locate{IDs: ids, After: after})
	if err != nil {
		return nil, failure(err)
	}
	c.Notes.Set("messages", len(done.IDs))
	return showDiscarded(ids, &done, n), nil
}

// showDiscarded returns the answer. An id that was not found has a result only if the look has reached its end.
func showDiscarded(ids []queue.MessageID, done *queue.Discarded, n queue.Counts) *deleteMessagesOutput {
	out := &deleteMessagesOutput{
		Results: make([]deleteResult, 0, len(ids)),
		Scanned: int64(done.Scanned), Total: int64(inStates(n, queue.AllStates)),
	}
	deleted := make(map[queue.MessageID]bool, len(done.IDs))
	for _, id := range done.IDs {
		deleted[id] = true
	}
	for _, id := range ids {
		switch {
		case deleted[id]:
			out.Results = append(out.Results, deleteResult{uuid.UUID(id).String(), "Deleted"})
		case !done.More:
			out.Results = append(out.Results, deleteResult{uuid.UUID(id).String(), "NotFound"})
		}
	}
	if done.More {
		out.Cursor = cursorText(done.Next.Encode())
	}
	return out
}
