package sqs

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/queue"
)

type deleteMessageInput struct {
	QueueUrl      string `max:"2048"`
	ReceiptHandle string `max:"2048"`
}

func (s *Service) deleteMessage(ctx context.Context, c *protocol.Call, in *deleteMessageInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:DeleteMessage")
	if err != nil {
		return nil, err
	}
	receipt, err := s.handles.receipt(q.ID, in.ReceiptHandle, func() string { return "ReceiptHandle" })
	if err != nil {
		return nil, err
	}
	results, err := s.shard.Delete(ctx, q.ID, []queue.Receipt{receipt})
	switch {
	case err != nil:
		return nil, failure(err, q)
	case results[0] != nil:
		return nil, receiptFailure(results[0], in.ReceiptHandle, 0)
	}
	noteCount(c, 1)
	s.consumption.deleted(c, q.ID, []queue.Receipt{receipt}, results)
	return nil, nil
}

type deleteMessageBatchInput struct {
	QueueUrl string                    `max:"2048"`
	Entries  []deleteMessageBatchEntry `max:"1000" query:"DeleteMessageBatchRequestEntry"`
}

type deleteMessageBatchEntry struct {
	Id            string `max:"256"`
	ReceiptHandle string `max:"2048"`
}

type deleteMessageBatchOutput struct {
	Successful []batchResult `query:"DeleteMessageBatchResultEntry"`
	Failed     []batchError  `query:"BatchResultErrorEntry"`
}

func (s *Service) deleteMessageBatch(
	ctx context.Context,
	c *protocol.Call,
	in *deleteMessageBatchInput,
) (*deleteMessageBatchOutput, error) {
	const entryType = "DeleteMessageBatchRequestEntry"
	q, err := s.queue(c, in.QueueUrl, "sqs:DeleteMessage")
	if err != nil {
		return nil, err
	}
	batch := receiptBatch[deleteMessageBatchEntry, queue.Receipt]{
		entryType: entryType,
		id:        func(e *deleteMessageBatchEntry) string { return e.Id },
		argument: func(i int, e *deleteMessageBatchEntry) (queue.Receipt, error) {
			return s.handles.receipt(q.ID, e.ReceiptHandle, func() string {
				return entryParameter(entryType, i, "ReceiptHandle")
			})
		},
		run: func(receipts []queue.Receipt) ([]error, error) {
			results, err := s.shard.Delete(ctx, q.ID, receipts)
			s.consumption.deleted(c, q.ID, receipts, results)
			return results, failure(err, q)
		},
		refusal: func(err error, e *deleteMessageBatchEntry) error { return entryFailure(err, e.ReceiptHandle, 0) },
	}
	out, err := batch.do(c, in.Entries)
	return (*deleteMessageBatchOutput)(out), err
}
