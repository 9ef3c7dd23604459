package sqs

import (
	"context"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
)

type sendMessageBatchInput struct {
	QueueUrl string                  `max:"2048"`
	Entries  []sendMessageBatchEntry `max:"1000" query:"SendMessageBatchRequestEntry"`
}

type sendMessageBatchEntry struct {
	Id string `max:"256"`
	message
}

type sendMessageBatchOutput struct {
	Successful []sendMessageBatchResult `query:"SendMessageBatchResultEntry"`
	Failed     []batchError             `query:"BatchResultErrorEntry"`
}

type sendMessageBatchResult struct {
	Id string
	sentMessage
}

func (s *Service) sendMessageBatch(
	ctx context.Context, c *protocol.Call, in *sendMessageBatchInput,
) (*sendMessageBatchOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:SendMessage")
	if err != nil {
		return nil, err
	}
	if err := s.checkBatch(q, in.Entries); err != nil {
		return nil, err
	}
	var result sendMessageBatchOutput
	messages := make([]queue.Outgoing, 0, len(in.Entries))
	accepted := make([]*sendMessageBatchEntry, 0, len(in.Entries))
	for i := range in.Entries {
		e := &in.Entries[i]
		m, err := e.toOutgoing(c, q)
		if err != nil {
			result.Failed = append(result.Failed, failed(e.Id, err))
			continue
		}
		messages, accepted = append(messages, m), append(accepted, e)
	}
	noteFailures(c, len(result.Failed))
	if len(messages) == 0 {
		return &result, nil
	}
	sent, err := s.send(ctx, c, q, messages)
	if err != nil {
		return nil, err
	}
	noteSent(c, sent)
	result.Successful = make([]sendMessageBatchResult, 0, len(accepted))
	for i, e := range accepted {
		result.Successful = append(result.Successful, sendMessageBatchResult{e.Id, e.sent(&messages[i], &sent[i])})
	}
	return &result, nil
}

// checkBatch refuses a batch as a whole.
func (s *Service) checkBatch(q *catalog.Queue, entries []sendMessageBatchEntry) error {
	const entryType = "SendMessageBatchRequestEntry"
	if err := checkEntries(entryType, entries, func(e *sendMessageBatchEntry) string { return e.Id }); err != nil {
		return err
	}
	if err := s.checkBatchSize(q, entries); err != nil {
		return err
	}
	for i := range entries {
		if entries[i].MessageBody == nil {
			return protocol.MissingParameter(entryParameter(entryType, i, "MessageBody"))
		}
		if err := entries[i].checkFIFO(q, errNoGroupInBatch); err != nil {
			return err
		}
	}
	return nil
}

// checkBatchSize refuses a batch whose messages are together too large. A batch may have the size of a message of its
// queue, and of a message of a queue with default attributes.
func (s *Service) checkBatchSize(q *catalog.Queue, entries []sendMessageBatchEntry) error {
	total := 0
	for i := range entries {
		if body := entries[i].MessageBody; body != nil {
			total += len(*body)
		}
		for name, v := range entries[i].MessageAttributes {
			total += len(name) + len(v.DataType) + len(v.BinaryValue)
			if v.StringValue != nil {
				total += len(*v.StringValue)
			}
		}
	}
	if limit := max(s.maxMessageSize, q.Attributes.MaximumMessageSize); total > limit {
		return errBatchTooLong(limit, total)
	}
	return nil
}

// toOutgoing converts an entry to the form that the engine stores. Its errors differ from those of a single message.
func (e *sendMessageBatchEntry) toOutgoing(c *protocol.Call, q *catalog.Queue) (queue.Outgoing, error) {
	if *e.MessageBody == "" {
		return queue.Outgoing{}, errEmptyValue("The message body must not be empty.")
	}
	if e.MessageDeduplicationId != nil && !q.Attributes.FIFO {
		return queue.Outgoing{}, protocol.InvalidParameterValue("The request include parameter that is not valid for this queue type")
	}
	out, size, err := e.message.toOutgoing(c, q)
	if err != nil {
		return out, err
	}
	if limit := q.Attributes.MaximumMessageSize; size > limit {
		return out, protocol.InvalidParameterValue(
			"One or more parameters cannot be validated. Reason: Message must be shorter than %d bytes.",
			limit,
		)
	}
	return out, nil
}
