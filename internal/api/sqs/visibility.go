package sqs

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

type changeMessageVisibilityInput struct {
	QueueUrl          string `max:"2048"`
	ReceiptHandle     string `max:"2048"`
	VisibilityTimeout *int32
}

func (s *Service) changeMessageVisibility(
	ctx context.Context, c *protocol.Call, in *changeMessageVisibilityInput,
) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:ChangeMessageVisibility")
	if err != nil {
		return nil, err
	}
	if in.VisibilityTimeout == nil {
		return nil, protocol.MissingParameter("VisibilityTimeout")
	}
	timeout := *in.VisibilityTimeout
	if timeout < 0 || timeout > maxVisibility {
		return nil, errValue(timeout, "VisibilityTimeout", "Must be between 0 and 43200.")
	}
	receipt, err := s.handles.receipt(q.ID, in.ReceiptHandle, func() string { return "ReceiptHandle" })
	if err != nil {
		return nil, err
	}
	results, err := s.shard.ChangeVisibility(ctx, q.ID, []queue.Visibility{{
		Receipt: receipt, Timeout: time.Duration(timeout) * time.Second,
	}})
	switch {
	case err != nil:
		return nil, failure(err, q)
	case results[0] != nil:
		return nil, receiptFailure(results[0], in.ReceiptHandle, int(timeout))
	}
	noteCount(c, 1)
	return nil, nil
}

type changeMessageVisibilityBatchInput struct {
	QueueUrl string                              `max:"2048"`
	Entries  []changeMessageVisibilityBatchEntry `max:"1000" query:"ChangeMessageVisibilityBatchRequestEntry"`
}

type changeMessageVisibilityBatchEntry struct {
	Id                string `max:"256"`
	ReceiptHandle     string `max:"2048"`
	VisibilityTimeout *int32
}

type changeMessageVisibilityBatchOutput struct {
	Successful []batchResult `query:"ChangeMessageVisibilityBatchResultEntry"`
	Failed     []batchError  `query:"BatchResultErrorEntry"`
}

func (s *Service) changeMessageVisibilityBatch(
	ctx context.Context,
	c *protocol.Call,
	in *changeMessageVisibilityBatchInput,
) (*changeMessageVisibilityBatchOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:ChangeMessageVisibility")
	if err != nil {
		return nil, err
	}
	batch := receiptBatch[changeMessageVisibilityBatchEntry, queue.Visibility]{
		entryType: visibilityEntryType,
		id:        func(e *changeMessageVisibilityBatchEntry) string { return e.Id },
		argument: func(i int, e *changeMessageVisibilityBatchEntry) (queue.Visibility, error) {
			return s.entryVisibility(q.ID, i, e)
		},
		run: func(changes []queue.Visibility) ([]error, error) {
			results, err := s.shard.ChangeVisibility(ctx, q.ID, changes)
			return results, failure(err, q)
		},
		refusal: func(err error, e *changeMessageVisibilityBatchEntry) error {
			return entryFailure(err, e.ReceiptHandle, int(*e.VisibilityTimeout))
		},
	}
	out, err := batch.do(c, in.Entries)
	return (*changeMessageVisibilityBatchOutput)(out), err
}

const visibilityEntryType = "ChangeMessageVisibilityBatchRequestEntry"

// entryVisibility checks the entry with index i.
func (s *Service) entryVisibility(q queue.ID, i int, e *changeMessageVisibilityBatchEntry) (queue.Visibility, error) {
	if e.VisibilityTimeout == nil {
		return queue.Visibility{}, protocol.MissingParameter(
			entryParameter(visibilityEntryType, i, "VisibilityTimeout"),
		)
	}
	if t := *e.VisibilityTimeout; t < 0 || t > maxVisibility {
		return queue.Visibility{}, errValue(
			t, "VisibilityTimeout", "VisibilityTimeout must be an integer between 0 and 43200.",
		)
	}
	receipt, err := s.handles.receipt(q, e.ReceiptHandle, func() string {
		return entryParameter(visibilityEntryType, i, "ReceiptHandle")
	})
	return queue.Visibility{Receipt: receipt, Timeout: time.Duration(*e.VisibilityTimeout) * time.Second}, err
}
