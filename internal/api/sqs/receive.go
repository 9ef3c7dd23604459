package sqs

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/tenant"
)

const maxReceived = 10

type receiveMessageInput struct {
	QueueUrl                    string   `max:"2048"`
	AttributeNames              []string `max:"100,256" query:"AttributeName"`
	MessageSystemAttributeNames []string `max:"100,256" query:"MessageSystemAttributeName"`
	MessageAttributeNames       []string `max:"100,512" query:"MessageAttributeName"`
	MaxNumberOfMessages         *int32
	VisibilityTimeout           *int32
	WaitTimeSeconds             *int32
	ReceiveRequestAttemptId     *string `max:"512"`
}

type receiveMessageOutput struct {
	Messages []receivedMessage `query:"Message" wrapper:"messages"`
}

type receivedMessage struct {
	MessageId              string
	ReceiptHandle          string
	MD5OfBody              string
	Body                   string                   `hidden:""`
	Attributes             map[string]string        `          query:"Attribute"        entry:"Name,Value"`
	MD5OfMessageAttributes string                   `                                                      json:",omitempty"`
	MessageAttributes      map[string]receivedValue `hidden:"" query:"MessageAttribute" entry:"Name,Value"`
}

type receivedValue struct {
	StringValue *string
	BinaryValue []byte
	DataType    string
}

// Names of message system attributes.
const (
	sysSender      = "SenderId"
	sysSent        = "SentTimestamp"
	sysCount       = "ApproximateReceiveCount"
	sysFirst       = "ApproximateFirstReceiveTimestamp"
	sysSequence    = "SequenceNumber"
	sysDedup       = "MessageDeduplicationId"
	sysGroup       = "MessageGroupId"
	sysTrace       = traceHeader
	sysSourceQueue = "DeadLetterQueueSourceArn"
)

var systemAttributes = []string{
	attrAll, sysSender, sysSent, sysCount, sysFirst, sysSequence, sysDedup, sysGroup, sysTrace,
	sysSourceQueue, attrManagedSSE, // clients can request the last one, but no message has it
}

func (s *Service) receiveMessage(
	ctx context.Context, c *protocol.Call, in *receiveMessageInput,
) (*receiveMessageOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:ReceiveMessage")
	if err != nil {
		return nil, err
	}
	r, wait, err := receiveOptions(q, in)
	if err != nil {
		return nil, err
	}
	system, err := systemNames(in)
	if err != nil {
		return nil, err
	}
	if err := s.useKey(c, q, service.ToDecrypt); err != nil {
		return nil, err
	}
	if err := s.take(c, q, tenant.Receives, 1); err != nil {
		return nil, err
	}
	messages, err := s.shard.Receive(ctx, q.ID, r, wait)
	if err != nil {
		if errors.Is(err, queue.ErrAttemptStale) {
			return nil, errValue(r.Attempt, "ReceiveRequestAttemptId",
				"The receiveRequestAttemptId is not valid anymore since the receive call is not retryable.")
		}
		return nil, failure(err, q)
	}
	if len(messages) == 0 {
		s.shard.EmptyReceive(q.ID)
	}
	s.takeReceived(c, q, len(messages))
	noteReceived(c, messages)
	s.consumption.received(c, q.ID, r.Max, wait, messages)
	out := &receiveMessageOutput{Messages: make([]receivedMessage, 0, len(messages))}
	alphabet := s.handles.alphabet()
	for i := range messages {
		out.Messages = append(out.Messages, s.show(q, &messages[i], alphabet, system, in.MessageAttributeNames))
	}
	if len(messages) > 0 {
		// Messages that do not reach the consumer need not stay invisible to others until their timeout ends.
		c.IfUndelivered(func(ctx context.Context) {
			_ = s.shard.Return(ctx, q.ID, shard.Deliveries(messages), r.Attempt)
		})
	}
	return out, nil
}

// receiveOptions checks the numbers of a request and fills in the queue's defaults.
func receiveOptions(q *catalog.Queue, in *receiveMessageInput) (r queue.Receive, wait time.Duration, _ error) {
	r.Max = 1
	if n := in.MaxNumberOfMessages; n != nil {
		if *n < 1 || *n > maxReceived {
			return r, 0, errValue(*n, "MaxNumberOfMessages", "Must be between 1 and 10, if provided.")
		}
		r.Max = int(*n)
	}
	wait = time.Duration(q.Attributes.WaitSeconds) * time.Second
	if n := in.WaitTimeSeconds; n != nil {
		if *n < 0 || *n > maxWait {
			return r, 0, errValue(*n, "WaitTimeSeconds", "Must be >= 0 and <= 20, if provided.")
		}
		wait = time.Duration(*n) * time.Second
	}
	if n := in.VisibilityTimeout; n != nil {
		if *n < 0 || *n > maxVisibility {
			return r, 0, errValue(*n, "VisibilityTimeout", "Must be >= 0 and <= 43200, if provided.")
		}
		timeout := time.Duration(*n) * time.Second
		r.Timeout = &timeout
	}
	// SQS ignores the attempt id on a standard queue.
	if id := in.ReceiveRequestAttemptId; id != nil && q.Attributes.FIFO {
		if !service.ValidID(*id) {
			return r, 0, errID(*id, "ReceiveRequestAttemptId")
		}
		r.Attempt = *id
	}
	return r, wait, nil
}

// systemNames returns the names of the requested system attributes.
func systemNames(in *receiveMessageInput) ([]string, error) {
	var names []string
	for _, list := range [][]string{in.AttributeNames, in.MessageSystemAttributeNames} {
		for _, name := range list {
			name = strings.TrimSuffix(name, ";") // as the guide's example has it
			if !slices.Contains(systemAttributes, name) {
				return nil, errUnknownAttribute(service.Shorten(name))
			}
			names = append(names, name)
		}
	}
	return names, nil
}

// show returns a message in the form for its consumer.
func (s *Service) show(
	q *catalog.Queue, m *shard.Message, alphabet *base64.Encoding, system, wanted []string,
) receivedMessage {
	id, digest := idAndDigest(m.ID, &m.BodyMD5)
	out := receivedMessage{
		MessageId:     id,
		ReceiptHandle: s.handles.seal(q.ID, queue.Receipt{Position: m.Position, Number: m.Receipt}, alphabet),
		MD5OfBody:     digest,
		Body:          m.Body,
	}
	if len(system) > 0 {
		out.Attributes = systemValues(m, system)
	}
	var chosen []queue.Attribute
	for _, a := range m.Attributes {
		if wants(wanted, a.Name) {
			chosen = append(chosen, a)
		}
	}
	if len(chosen) == 0 {
		return out
	}
	out.MD5OfMessageAttributes = attributesMD5(chosen)
	out.MessageAttributes = make(map[string]receivedValue, len(chosen))
	for _, a := range chosen {
		v := receivedValue{DataType: a.Type}
		if binaryType(a.Type) {
			v.BinaryValue = []byte(a.Value)
		} else {
			v.StringValue = &a.Value
		}
		out.MessageAttributes[a.Name] = v
	}
	return out
}

// systemValues returns the requested system attributes that the message has.
func systemValues(m *shard.Message, names []string) map[string]string {
	out := make(map[string]string, len(names))
	all := slices.Contains(names, attrAll)
	set := func(name, value string) {
		if value != "" && (all || slices.Contains(names, name)) {
			out[name] = value
		}
	}
	set(sysSender, m.Sender)
	set(sysSent, strconv.FormatInt(int64(m.SentAt), 10))
	set(sysCount, strconv.FormatUint(m.ReceiveCount(), 10))
	set(sysFirst, strconv.FormatInt(int64(m.FirstReceived()), 10))
	set(sysSequence, sequence(m.Sequence))
	set(sysDedup, m.Dedup)
	set(sysGroup, m.Group)
	set(sysTrace, m.Trace)
	set(sysSourceQueue, m.Source)
	return out
}

// wants reports whether a message attribute was requested: by name, by a prefix followed by .*, or with all others,
// which is written All, .* or *.
func wants(wanted []string, name string) bool {
	for _, w := range wanted {
		if w == attrAll || w == "*" || w == name {
			return true
		}
		if prefix, ok := strings.CutSuffix(w, ".*"); ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
