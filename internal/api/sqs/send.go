package sqs

import (
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
)

// message is a client's message: the common part of SendMessage and an entry of SendMessageBatch.
type message struct {
	MessageBody             *string `max:"8M"       hidden:""`
	DelaySeconds            *int32
	MessageAttributes       map[string]attributeValue `max:"100,1024" hidden:"" query:"MessageAttribute"       entry:"Name,Value"`
	MessageSystemAttributes map[string]attributeValue `max:"100,1024" hidden:"" query:"MessageSystemAttribute" entry:"Name,Value"`
	MessageGroupId          *string                   `max:"512"`
	MessageDeduplicationId  *string                   `max:"512"`
}

// sentMessage is the answer for a stored message.
type sentMessage struct {
	MessageId                    string
	MD5OfMessageBody             string
	MD5OfMessageAttributes       string `json:",omitempty"`
	MD5OfMessageSystemAttributes string `json:",omitempty"`
	SequenceNumber               string `json:",omitempty"`
}

type sendMessageInput struct {
	QueueUrl string `max:"2048"`
	message
	// Attributes is how the guide's example of API version 2011-10-01 gives
	// DelaySeconds.
	Attributes map[string]string `max:"100,256,64K" json:"-" query:"Attribute" entry:"Name,Value"`
}

type sendMessageOutput struct{ sentMessage }

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
	if in.MessageBody == nil || *in.MessageBody == "" {
		return nil, protocol.MissingParameter("MessageBody")
	}
	if err := in.checkFIFO(q, errNoGroup); err != nil {
		return nil, err
	}
	out, size, err := in.toOutgoing(c, q)
	if err != nil {
		return nil, err
	}
	if limit := q.Attributes.MaximumMessageSize; size > limit {
		return nil, protocol.InvalidParameterValue(
			"One or more parameters are invalid. Reason: Message must be shorter than %d bytes.",
			limit,
		)
	}
	sent, err := s.send(ctx, c, q, []queue.Outgoing{out})
	if err != nil {
		return nil, err
	}
	noteSent(c, sent)
	return &sendMessageOutput{in.sent(&out, &sent[0])}, nil
}

// checkFIFO refuses a message without the parameters that a FIFO queue needs. A single send and a batch have different
// errors for a missing group.
func (m *message) checkFIFO(q *catalog.Queue, noGroup func() *protocol.Error) error {
	if !q.Attributes.FIFO {
		return nil
	}
	if m.MessageGroupId == nil {
		return noGroup()
	}
	if m.MessageDeduplicationId == nil && !q.Attributes.ContentDedup {
		return protocol.InvalidParameterValue(
			"The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId provided explicitly",
		)
	}
	return nil
}

func errNoGroup() *protocol.Error { return protocol.MissingParameter("MessageGroupId") }

func errNoGroupInBatch() *protocol.Error {
	return protocol.InvalidParameterValue("The request must contain the parameter MessageGroupId.")
}

// toOutgoing converts a message, which has a body, to the form that the engine stores, and returns its size in bytes.
func (m *message) toOutgoing(c *protocol.Call, q *catalog.Queue) (out queue.Outgoing, size int, err error) {
	body, fifo := *m.MessageBody, q.Attributes.FIFO
	out = queue.Outgoing{ID: queue.MessageID(uuid.New()), Sender: sender(c), Body: body}
	if !service.ValidText(body) {
		return out, 0, errMessageContents()
	}
	if out.Attributes, size, err = checkAttributes(m.MessageAttributes); err != nil {
		return out, 0, err
	}
	if out.Trace, err = checkSystemAttributes(m.MessageSystemAttributes); err != nil {
		return out, 0, err
	}
	// The header is not part of the message: one that is no trace header is not the sender's mistake.
	if out.Trace == "" && len(c.TraceID) <= maxTraceHeader && service.ValidText(c.TraceID) {
		out.Trace = c.TraceID
	}
	if delay := m.DelaySeconds; delay != nil {
		if *delay < 0 || *delay > maxDelay {
			return out, 0, errValue(*delay, attrDelay, "DelaySeconds must be >= 0 and <= 900.")
		}
		if fifo && *delay > 0 {
			return out, 0, errValue(*delay, attrDelay, "The request include parameter that is not valid for this queue type.")
		}
		d := time.Duration(*delay) * time.Second
		out.Delay = &d
	}
	if group := m.MessageGroupId; group != nil {
		if !service.ValidID(*group) {
			return out, 0, errID(*group, "MessageGroupId")
		}
		out.Group = *group
	}
	switch dedup := m.MessageDeduplicationId; {
	case dedup != nil && !fifo:
		return out, 0, errValue(*dedup, "MessageDeduplicationId", "The request include parameter that is not valid for this queue type.")
	case dedup != nil && !service.ValidID(*dedup):
		return out, 0, errID(*dedup, "MessageDeduplicationId")
	case dedup != nil:
		out.Dedup = *dedup
	case fifo:
		sum := sha256.Sum256([]byte(body))
		out.Dedup = hex.EncodeToString(sum[:])
	}
	out.BodyMD5 = bodyMD5(body)
	return out, size + len(body), nil
}

// bodyMD5 returns the digest of a body, without a copy of the whole body.
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

// sent returns the answer for the message, which was stored as out.
func (m *message) sent(out *queue.Outgoing, sent *queue.Sent) sentMessage {
	id, digest := idAndDigest(sent.ID, &out.BodyMD5)
	result := sentMessage{
		MessageId:              id,
		MD5OfMessageBody:       digest,
		MD5OfMessageAttributes: attributesMD5(out.Attributes),
		SequenceNumber:         sequence(sent.Sequence),
	}
	if len(m.MessageSystemAttributes) > 0 {
		result.MD5OfMessageSystemAttributes = attributesMD5([]queue.Attribute{{
			Name: traceHeader, Type: "String", Value: out.Trace,
		}})
	}
	return result
}

// idAndDigest returns the id of a message and the digest of its body as texts, which share one piece of memory.
func idAndDigest(id queue.MessageID, md5Sum *[md5.Size]byte) (string, string) {
	both := id.AppendTo(make([]byte, 0, queue.MessageIDLength+2*md5.Size))
	text := string(hex.AppendEncode(both, md5Sum[:]))
	return text[:queue.MessageIDLength], text[queue.MessageIDLength:]
}

// sequence formats a SequenceNumber; messages of standard queues have none.
func sequence(n uint64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
