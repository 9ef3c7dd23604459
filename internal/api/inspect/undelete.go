package inspect

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// deletedQueueInput names a queue that has no URL now, as GetQueueUrl does.
type deletedQueueInput struct {
	QueueName              string `max:"256"`
	QueueOwnerAWSAccountId string `max:"64"`
}

// undeletedQueue is a restored queue.
type undeletedQueue struct {
	QueueUrl         string
	DeletedTimestamp int64  // milliseconds
	Messages         *int64 `json:",omitempty"` // in all states; nil if they could not be counted now
}

// undoDelete restores the most recently deleted queue with a name, with its messages. A repetition gets the same
// answer, because the first may have been lost.
func (s *inspector) undoDelete(
	ctx context.Context, c *protocol.Call, in *deletedQueueInput,
) (*undeletedQueue, error) {
	gone, err := s.deletedQueue(c, in)
	if err != nil {
		return nil, err
	}
	q, err := s.catalog.Undelete(ctx, gone, s.now(), func() error { return s.checkQueues(gone.Name.Account) })
	switch {
	case errors.Is(err, catalog.ErrNotShelved):
		return nil, errNotUndone(gone.Name)
	case errors.Is(err, catalog.ErrExists):
		return nil, protocol.ValidationError(
			"The deletion of the queue %s cannot be undone: there is a new queue of this name.", gone.Name.Queue,
		)
	case err != nil:
		return nil, failure(err)
	}
	return s.undeleted(ctx, c, q), nil
}

// undeleted describes a queue that is back.
func (s *inspector) undeleted(ctx context.Context, c *protocol.Call, q *catalog.Queue) *undeletedQueue {
	out := &undeletedQueue{
		QueueUrl: queueURL(c, s.publicURL, q.Name), DeletedTimestamp: q.Undone.UnixMilli(),
	}
	if n, err := s.shard.Counts(ctx, q.ID); err == nil {
		total := int64(n.Visible + n.InFlight + n.Delayed)
		out.Messages = &total
	}
	return out
}

// deletedQueue returns the record of the queue that the request would restore, if the caller may. An unauthorized
// caller gets the same answer whether or not there is one.
func (s *inspector) deletedQueue(c *protocol.Call, in *deletedQueueInput) (*catalog.Queue, error) {
	n := catalog.Name{Account: service.Caller(c).Account, Region: c.Region, Queue: in.QueueName}
	switch owner := in.QueueOwnerAWSAccountId; {
	case service.Anonymous(c):
		return nil, service.Denied(c)
	case owner != "" && !identity.IsAccount(owner):
		return nil, errNoQueue()
	case owner != "":
		n.Account = owner
	}
	gone := s.catalog.Undeletable(n, s.now())
	about := n
	about.Queue = service.Shorten(n.Queue)
	c.Notes.Set("queue", about.ARN())
	if err := s.allow(c, about, gone, "UndoDelete"); err != nil {
		return nil, err
	}
	switch {
	case n.Queue == "":
		return nil, protocol.InvalidParameterValue(
			"Value for parameter QueueName is invalid. Reason: Must specify a queue name.",
		)
	case gone == nil:
		return nil, errNotUndone(about)
	}
	return gone, nil
}

func errNotUndone(n catalog.Name) *protocol.Error {
	e := protocol.ValidationError(
		"No deletion of a queue %s can be undone: none was deleted in the last 10 minutes, it was not kept (the disk is "+
			"nearly full, or --no-undo), or the account has deleted too many others since.", n.Queue,
	)
	e.Absent = true // a node of a cluster that lags may not know of the deletion yet
	return e
}
