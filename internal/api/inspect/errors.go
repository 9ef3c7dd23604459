package inspect

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/encryption"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// errNoQueue is SQS's error: clients know it.
func errNoQueue() *protocol.Error {
	e := service.Modelled(
		"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", 400, "The specified queue does not exist.",
	)
	e.Absent = true
	return e
}

// errTooManyQueues has its own code: a client can list the queues in order of their names instead.
func errTooManyQueues(n int) *protocol.Error {
	return service.Modelled(
		"TooManyQueues", "TooManyQueues", 400,
		"OrderBy and Only cover up to %d queues, and %d have such names: restrict them by Prefix or Contains.", maxOrdered, n,
	)
}

// failure translates an error of the shard into the client's answer.
func failure(err error) error {
	if e, ok := service.OfKey(err, "of the queue"); ok && !errors.Is(err, encryption.ErrSuspended) {
		return errors.Join(protocol.ValidationError("%s", e.Text), err)
	}
	switch {
	case errors.Is(err, queue.ErrNoQueue):
		return errNoQueue()
	case errors.Is(err, queue.ErrSealed):
		return service.Sealed(err)
	case errors.Is(err, queue.ErrTooLong):
		return protocol.InvalidParameterValue("The request is too large to be carried out.")
	case service.OfTheDisk(err):
		return service.Failure(err)
	case errors.Is(err, encryption.ErrSuspended), errors.Is(err, shard.ErrUnavailable),
		errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return errors.Join(protocol.ServiceUnavailable(), err)
	}
	return err
}
