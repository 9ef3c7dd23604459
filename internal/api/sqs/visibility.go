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

func (s *Service) changeMessageVisibility(ctx context.Context, c *protocol.Call, in *changeMessageVisibilityInput) (*service.Empty, error) {
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
	receipt, perr := s.receipt(q.ID, "ReceiptHandle", in.ReceiptHandle)
	if perr != nil {
		return nil, perr
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
	Entries  []changeMessageVisibilityBatchEntry `query:"ChangeMessageVisibilityBatchRequestEntry" max:"1000"`
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

func (s *Service) changeMessageVisibilityBatch(ctx context.Context, c *protocol.Call, in *changeMessageVisibilityBatchInput) (*changeMessageVisibilityBatchOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:ChangeMessageVisibility")
	if err != nil {
		return nil, err
	}
	if err := checkEntries("ChangeMessageVisibilityBatchRequestEntry", in.Entries, func(e *changeMessageVisibilityBatchEntry) string { return e.Id }); err != nil {
		return nil, err
	}
	var out changeMessageVisibilityBatchOutput
	var changes []queue.Visibility
	var entries []*changeMessageVisibilityBatchEntry
	for i := range in.Entries {
		e := &in.Entries[i]
		change, err := s.entryVisibility(q.ID, i, e)
		if err != nil {
			out.Failed = append(out.Failed, failed(e.Id, err))
			continue
		}
		changes = append(changes, change)
		entries = append(entries, e)
	}
	if len(changes) == 0 {
		return &out, nil
	}
	results, err := s.shard.ChangeVisibility(ctx, q.ID, changes)
	if err != nil {
		return nil, failure(err, q)
	}
	for i, e := range entries {
		if results[i] != nil {
			out.Failed = append(out.Failed, failed(e.Id, entryFailure(results[i], e.ReceiptHandle, int(*e.VisibilityTimeout))))
			continue
		}
		out.Successful = append(out.Successful, batchResult{Id: e.Id})
	}
	noteCount(c, len(out.Successful))
	noteFailures(c, len(out.Failed))
	return &out, nil
}

// entryVisibility checks the entry with index i.
func (s *Service) entryVisibility(q queue.ID, i int, e *changeMessageVisibilityBatchEntry) (queue.Visibility, *protocol.Error) {
	const entryType = "ChangeMessageVisibilityBatchRequestEntry"
	if e.VisibilityTimeout == nil {
		return queue.Visibility{}, protocol.MissingParameter(entryParameter(entryType, i, "VisibilityTimeout"))
	}
	if t := *e.VisibilityTimeout; t < 0 || t > maxVisibility {
		return queue.Visibility{}, errValue(t, "VisibilityTimeout", "VisibilityTimeout must be an integer between 0 and 43200.")
	}
	receipt, err := s.receipt(q, entryParameter(entryType, i, "ReceiptHandle"), e.ReceiptHandle)
	return queue.Visibility{Receipt: receipt, Timeout: time.Duration(*e.VisibilityTimeout) * time.Second}, err
}
