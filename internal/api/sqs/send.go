package sqs

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
)

// messageInput is what SendMessage and an entry of SendMessageBatch have in
// common. The wire knows no embedding, so that both are converted to it.
type messageInput struct {
	body       string
	delay      *int32
	attributes map[string]attributeValue
	system     map[string]attributeValue
	group      *string
	dedup      *string
}

type sendMessageInput struct {
	QueueUrl                string `max:"2048"`
	MessageBody             string `max:"8M"`
	DelaySeconds            *int32
	MessageAttributes       map[string]attributeValue `query:"MessageAttribute" entry:"Name,Value" max:"100,1024"`
	MessageSystemAttributes map[string]attributeValue `query:"MessageSystemAttribute" entry:"Name,Value" max:"100,1024"`
	MessageGroupId          *string                   `max:"512"`
	MessageDeduplicationId  *string                   `max:"512"`
	// Attributes is how the guide's example of API version 2011-10-01 gives
	// DelaySeconds.
	Attributes map[string]string `json:"-" query:"Attribute" entry:"Name,Value" max:"100,256,64K"`
}

type sendMessageOutput struct {
	MD5OfMessageBody             string
	MD5OfMessageAttributes       string `json:",omitempty"`
	MD5OfMessageSystemAttributes string `json:",omitempty"`
	MessageId                    string
	SequenceNumber               string `json:",omitempty"`
}

func (s *Service) sendMessage(ctx context.Context, c *protocol.Call, in *sendMessageInput) (*sendMessageOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:SendMessage")
	if err != nil {
		return nil, err
	}
	if in.DelaySeconds == nil && in.Attributes[attrDelay] != "" {
		n, err := strconv.ParseInt(in.Attributes[attrDelay], 10, 32)
		if err != nil {
			return nil, errValue(in.Attributes[attrDelay], attrDelay, "DelaySeconds must be an integer.")
		}
		delay := int32(n)
		in.DelaySeconds = &delay
	}
	if in.MessageBody == "" {
		return nil, protocol.MissingParameter("MessageBody")
	}
	m := &messageInput{
		body: in.MessageBody, delay: in.DelaySeconds, attributes: in.MessageAttributes,
		system: in.MessageSystemAttributes, group: in.MessageGroupId, dedup: in.MessageDeduplicationId,
	}
	if err := checkFIFO(q, m, errNoGroup); err != nil {
		return nil, err
	}
	out, size, perr := outgoing(c, q, m)
	if perr != nil {
		return nil, perr
	}
	if limit := q.Attributes.MaximumMessageSize; size > limit {
		return nil, protocol.InvalidParameterValue("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", limit)
	}
	if err := s.checkRoom(); err != nil {
		return nil, err
	}
	sent, err := s.shard.Send(ctx, q.ID, []queue.Outgoing{out})
	if err != nil {
		return nil, failure(err, q)
	}
	noteSent(c, sent)
	return &sendMessageOutput{
		MD5OfMessageBody:             hex.EncodeToString(out.BodyMD5[:]),
		MD5OfMessageAttributes:       attributesMD5(out.Attributes),
		MD5OfMessageSystemAttributes: systemMD5(in.MessageSystemAttributes, &out),
		MessageId:                    sent[0].ID.String(),
		SequenceNumber:               sequence(sent[0].Sequence),
	}, nil
}

// checkFIFO refuses a message that lacks what a FIFO queue needs. A single send
// and a batch miss the group with different errors.
func checkFIFO(q *catalog.Queue, m *messageInput, noGroup func() *protocol.Error) *protocol.Error {
	if !q.Attributes.FIFO {
		return nil
	}
	if m.group == nil {
		return noGroup()
	}
	if m.dedup == nil && !q.Attributes.ContentDedup {
		return protocol.InvalidParameterValue("The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly")
	}
	return nil
}

func errNoGroup() *protocol.Error { return protocol.MissingParameter("MessageGroupId") }

func errNoGroupInBatch() *protocol.Error {
	return protocol.InvalidParameterValue("The request must contain the parameter MessageGroupId.")
}

// outgoing turns a message into what the engine stores and returns the bytes
// that count for its size.
func outgoing(c *protocol.Call, q *catalog.Queue, m *messageInput) (queue.Outgoing, int, *protocol.Error) {
	fifo := q.Attributes.FIFO
	out := queue.Outgoing{ID: queue.MessageID(uuid.New()), Sender: sender(c), Body: m.body}
	if !validText(m.body) {
		return out, 0, errMessageContents()
	}
	attributes, size, err := checkAttributes(m.attributes)
	if err != nil {
		return out, 0, err
	}
	out.Attributes = attributes
	if out.Trace, err = checkSystemAttributes(m.system); err != nil {
		return out, 0, err
	}
	// The header is not part of the message: one that is no trace header is not the sender's mistake.
	if out.Trace == "" && len(c.TraceID) <= maxTraceHeader && validText(c.TraceID) {
		out.Trace = c.TraceID
	}
	if m.delay != nil {
		if *m.delay < 0 || *m.delay > maxDelay {
			return out, 0, errValue(*m.delay, attrDelay, "DelaySeconds must be >= 0 and <= 900.")
		}
		if fifo && *m.delay > 0 {
			return out, 0, errValue(*m.delay, attrDelay, "The request include parameter that is not valid for this queue type.")
		}
		delay := time.Duration(*m.delay) * time.Second
		out.Delay = &delay
	}
	if m.group != nil {
		if !validID(*m.group) {
			return out, 0, errID(*m.group, "MessageGroupId")
		}
		out.Group = *m.group
	}
	switch {
	case m.dedup != nil && !fifo:
		return out, 0, errValue(*m.dedup, "MessageDeduplicationId", "The request include parameter that is not valid for this queue type.")
	case m.dedup != nil && !validID(*m.dedup):
		return out, 0, errID(*m.dedup, "MessageDeduplicationId")
	case m.dedup != nil:
		out.Dedup = *m.dedup
	case fifo:
		sum := sha256.Sum256([]byte(m.body))
		out.Dedup = hex.EncodeToString(sum[:])
	}
	out.BodyMD5 = bodyMD5(m.body)
	return out, size + len(m.body), nil
}

// bodyMD5 returns the digest of a body, without a copy of all of it.
func bodyMD5(body string) (sum [md5.Size]byte) {
	h := md5.New()
	var part [512]byte
	for len(body) > 0 {
		n := copy(part[:], body)
		h.Write(part[:n])
		body = body[n:]
	}
	h.Sum(sum[:0])
	return sum
}

func errID(value, parameter string) *protocol.Error {
	return errValue(value, parameter,
		parameter+" can only include alphanumeric and punctuation characters. 1 to 128 in length.")
}

// systemMD5 is the digest of the system attributes that the request has set.
func systemMD5(in map[string]attributeValue, out *queue.Outgoing) string {
	if len(in) == 0 {
		return ""
	}
	return attributesMD5([]queue.Attribute{{Name: traceHeader, Type: "String", Value: out.Trace}})
}

// sequence formats a SequenceNumber; messages of standard queues have none.
func sequence(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

type sendMessageBatchInput struct {
	QueueUrl string                  `max:"2048"`
	Entries  []sendMessageBatchEntry `query:"SendMessageBatchRequestEntry" max:"1000"`
}

type sendMessageBatchEntry struct {
	Id                      string  `max:"256"`
	MessageBody             *string `max:"8M"`
	DelaySeconds            *int32
	MessageAttributes       map[string]attributeValue `query:"MessageAttribute" entry:"Name,Value" max:"100,1024"`
	MessageSystemAttributes map[string]attributeValue `query:"MessageSystemAttribute" entry:"Name,Value" max:"100,1024"`
	MessageGroupId          *string                   `max:"512"`
	MessageDeduplicationId  *string                   `max:"512"`
}

type sendMessageBatchOutput struct {
	Successful []sendMessageBatchResult `query:"SendMessageBatchResultEntry"`
	Failed     []batchError             `query:"BatchResultErrorEntry"`
}

type sendMessageBatchResult struct {
	Id                           string
	MessageId                    string
	MD5OfMessageBody             string
	MD5OfMessageAttributes       string `json:",omitempty"`
	MD5OfMessageSystemAttributes string `json:",omitempty"`
	SequenceNumber               string `json:",omitempty"`
}

func (s *Service) sendMessageBatch(ctx context.Context, c *protocol.Call, in *sendMessageBatchInput) (*sendMessageBatchOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:SendMessage")
	if err != nil {
		return nil, err
	}
	if err := checkEntries("SendMessageBatchRequestEntry", in.Entries, func(e *sendMessageBatchEntry) string { return e.Id }); err != nil {
		return nil, err
	}
	if err := s.checkBatchSize(q, in.Entries); err != nil {
		return nil, err
	}
	inputs := make([]messageInput, len(in.Entries))
	for i, e := range in.Entries {
		if e.MessageBody == nil {
			return nil, protocol.MissingParameter(entryParameter("SendMessageBatchRequestEntry", i, "MessageBody"))
		}
		inputs[i] = messageInput{
			body: *e.MessageBody, delay: e.DelaySeconds, attributes: e.MessageAttributes,
			system: e.MessageSystemAttributes, group: e.MessageGroupId, dedup: e.MessageDeduplicationId,
		}
		if err := checkFIFO(q, &inputs[i], errNoGroupInBatch); err != nil {
			return nil, err
		}
	}

	var result sendMessageBatchOutput
	var messages []queue.Outgoing
	var accepted []int // indexes into the entries
	for i := range inputs {
		m, err := s.batchMessage(c, q, &inputs[i])
		if err != nil {
			result.Failed = append(result.Failed, failed(in.Entries[i].Id, err))
			continue
		}
		messages = append(messages, m)
		accepted = append(accepted, i)
	}
	noteFailures(c, len(result.Failed))
	if len(messages) == 0 {
		return &result, nil
	}
	if err := s.checkRoom(); err != nil {
		return nil, err
	}
	sent, err := s.shard.Send(ctx, q.ID, messages)
	if err != nil {
		return nil, failure(err, q)
	}
	noteSent(c, sent)
	for k, i := range accepted {
		m := &messages[k]
		result.Successful = append(result.Successful, sendMessageBatchResult{
			Id:                           in.Entries[i].Id,
			MessageId:                    sent[k].ID.String(),
			MD5OfMessageBody:             hex.EncodeToString(m.BodyMD5[:]),
			MD5OfMessageAttributes:       attributesMD5(m.Attributes),
			MD5OfMessageSystemAttributes: systemMD5(inputs[i].system, m),
			SequenceNumber:               sequence(sent[k].Sequence),
		})
	}
	return &result, nil
}

// batchMessage is outgoing for an entry of a batch, which has errors of its own.
func (s *Service) batchMessage(c *protocol.Call, q *catalog.Queue, m *messageInput) (queue.Outgoing, *protocol.Error) {
	if m.body == "" {
		return queue.Outgoing{}, errEmptyValue("The message body must not be empty.")
	}
	if m.dedup != nil && !q.Attributes.FIFO {
		return queue.Outgoing{}, protocol.InvalidParameterValue("The request include parameter that is not valid for this queue type")
	}
	out, size, err := outgoing(c, q, m)
	if err != nil {
		return out, err
	}
	if limit := q.Attributes.MaximumMessageSize; size > limit {
		return out, protocol.InvalidParameterValue("One or more parameters cannot be validated. Reason: Message must be shorter than %d bytes.", limit)
	}
	return out, nil
}

// checkBatchSize refuses a batch whose messages are too long together. A batch
// may hold what a message of its queue may, and what a message of a queue with
// default attributes may.
func (s *Service) checkBatchSize(q *catalog.Queue, entries []sendMessageBatchEntry) *protocol.Error {
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
