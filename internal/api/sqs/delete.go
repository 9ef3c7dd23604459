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
	receipt, perr := s.receipt(q.ID, "ReceiptHandle", in.ReceiptHandle)
	if perr != nil {
		return nil, perr
	}
	results, err := s.shard.Delete(ctx, q.ID, []queue.Receipt{receipt})
	switch {
	case err != nil:
		return nil, failure(err, q)
	case results[0] != nil:
		return nil, receiptFailure(results[0], in.ReceiptHandle, 0)
	}
	noteCount(c, 1)
	return nil, nil
}

type deleteMessageBatchInput struct {
	QueueUrl string                    `max:"2048"`
	Entries  []deleteMessageBatchEntry `query:"DeleteMessageBatchRequestEntry" max:"1000"`
}

type deleteMessageBatchEntry struct {
	Id            string `max:"256"`
	ReceiptHandle string `max:"2048"`
}

type deleteMessageBatchOutput struct {
	Successful []batchResult `query:"DeleteMessageBatchResultEntry"`
	Failed     []batchError  `query:"BatchResultErrorEntry"`
}

func (s *Service) deleteMessageBatch(ctx context.Context, c *protocol.Call, in *deleteMessageBatchInput) (*deleteMessageBatchOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:DeleteMessage")
	if err != nil {
		return nil, err
	}
	if err := checkEntries("DeleteMessageBatchRequestEntry", in.Entries, func(e *deleteMessageBatchEntry) string { return e.Id }); err != nil {
		return nil, err
	}
	var out deleteMessageBatchOutput
	var receipts []queue.Receipt
	var entries []*deleteMessageBatchEntry
	for i := range in.Entries {
		e := &in.Entries[i]
		receipt, err := s.receipt(q.ID, entryParameter("DeleteMessageBatchRequestEntry", i, "ReceiptHandle"), e.ReceiptHandle)
		if err != nil {
			out.Failed = append(out.Failed, failed(e.Id, err))
			continue
		}
		receipts = append(receipts, receipt)
		entries = append(entries, e)
	}
	if len(receipts) == 0 {
		return &out, nil
	}
	results, err := s.shard.Delete(ctx, q.ID, receipts)
	if err != nil {
		return nil, failure(err, q)
	}
	for i, e := range entries {
		if results[i] != nil {
			out.Failed = append(out.Failed, failed(e.Id, entryFailure(results[i], e.ReceiptHandle, 0)))
			continue
		}
		out.Successful = append(out.Successful, batchResult{Id: e.Id})
	}
	noteCount(c, len(out.Successful))
	noteFailures(c, len(out.Failed))
	return &out, nil
}

// receipt opens a receipt handle, which is the value of parameter.
func (s *Service) receipt(q queue.ID, parameter, handle string) (queue.Receipt, *protocol.Error) {
	if handle == "" {
		return queue.Receipt{}, protocol.MissingParameter(parameter)
	}
	receipt, ok := s.handles.open(q, handle)
	if !ok {
		return receipt, errReceiptHandle(handle)
	}
	return receipt, nil
}
