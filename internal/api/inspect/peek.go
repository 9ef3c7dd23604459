package inspect

import (
	"context"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/search"
)

const (
	defaultPeek = 50
	maxPeek     = 500
)

type peekMessagesInput struct {
	QueueUrl    string   `max:"2048"`
	States      []string `max:"3,16"`    // none: all
	Filter      string   `max:"1024"`    // see package search
	MessageIds  []string `max:"1000,64"` // none: all
	Cursor      string   `max:"256"`     // of the answer before; empty: from the beginning
	Max         *int32
	IncludeBody bool
}

type peekMessagesOutput struct {
	Messages []peekedMessage `json:",always"`
	Cursor   string          `json:",omitempty"` // where to continue; empty: this was the end of the queue
	Scanned  int64           // messages that this call has read
	Total    int64           // messages that the queue has in these states
}

type peekedMessage struct {
	MessageId              string
	State                  string
	Size                   int64  // bytes of body and attributes
	SentTimestamp          int64  // milliseconds, as all
	ReceiveCount           int64  // as ApproximateReceiveCount
	FirstReceiveTimestamp  *int64 // as ApproximateFirstReceiveTimestamp
	LastReceiveTimestamp   *int64 // from this queue
	InvisibleUntil         *int64 // the end of the visibility timeout, or of the delay
	SenderId               string `json:",omitempty"`
	SequenceNumber         string `json:",omitempty"`
	MessageGroupId         string `json:",omitempty"`
	MessageDeduplicationId string `json:",omitempty"`
	AWSTraceHeader         string `json:",omitempty"`
	DeadLetterSourceArn    string `json:"DeadLetterQueueSourceArn,omitempty"`
	MessageAttributes      map[string]attributeValue
	Unreadable             bool    `json:",omitempty"` // it cannot be decrypted: its text and attributes are missing
	Body                   *string `hidden:""`         // only if requested
	MD5OfBody              string  `json:",omitempty"` // likewise: a short body can be guessed by it
}

type attributeValue struct {
	DataType    string
	StringValue *string
	BinaryValue []byte
}

var stateNames = map[string]queue.States{
	"Visible": queue.StateVisible, "InFlight": queue.StateInFlight, "Delayed": queue.StateDelayed,
}

func stateName(s queue.States) string {
	for name, state := range stateNames {
		if s == state {
			return name
		}
	}
	return ""
}

// peekMessages shows messages of a queue without changing it. Bodies need a separate action, and so does a filter that
// reads them, because its results reveal their contents.
func (s *inspector) peekMessages(
	ctx context.Context, c *protocol.Call, in *peekMessagesInput,
) (*peekMessagesOutput, error) {
	if service.Anonymous(c) {
		return nil, service.Denied(c)
	}
	p, readsBody, err := in.peek()
	if err != nil {
		return nil, err
	}
	actions := []string{"PeekMessages"}
	if readsBody {
		actions = append(actions, "PeekMessageBody")
	}
	q, err := s.queue(c, in.QueueUrl, actions...)
	if err != nil {
		return nil, err
	}
	return s.look(ctx, c, q, p)
}

// look shows messages of a queue.
func (s *inspector) look(
	ctx context.Context, c *protocol.Call, q *catalog.Queue, p queue.Peek,
) (*peekMessagesOutput, error) {
	found, err := s.shard.Peek(ctx, q.ID, p)
	if err != nil {
		return nil, failure(err)
	}
	n, err := s.shard.Counts(ctx, q.ID)
	if err != nil {
		return nil, failure(err)
	}
	c.Notes.Set("messages", len(found.Messages))
	out := &peekMessagesOutput{
		Messages: service.Convert(found.Messages, func(m queue.Peeked) peekedMessage { return show(&m, p.Bodies) }),
		Scanned:  int64(found.Scanned), Total: int64(inStates(n, p.States)),
	}
	if found.More {
		out.Cursor = cursorText(found.Next.Encode())
	}
	return out, nil
}

// peek returns the requested peek, and whether the answer depends on bodies.
func (in *peekMessagesInput) peek() (p queue.Peek, readsBody bool, _ error) {
	p = queue.Peek{Filter: in.Filter, Max: defaultPeek, Bodies: in.IncludeBody}
	if in.Max != nil {
		p.Max = int(*in.Max)
	}
	if p.Max < 1 || p.Max > maxPeek {
		return p, false, protocol.ValidationError("Max is %d; it must be between 1 and %d.", p.Max, maxPeek)
	}
	for _, name := range in.States {
		state, known := stateNames[name]
		if !known {
			return p, false, protocol.ValidationError("States has %q; it may have Visible, InFlight and Delayed.", name)
		}
		p.States |= state
	}
	if len(in.States) == 0 {
		p.States = queue.AllStates
	}
	query, err := search.Parse(in.Filter)
	if err != nil {
		return p, false, protocol.ValidationError("Filter: %s.", err)
	}
	after, ok := cursor(in.Cursor, queue.DecodePeekCursor)
	if !ok {
		return p, false, errCursor()
	}
	p.After = after
	if p.IDs, err = messageIDs(in.MessageIds); err != nil {
		return p, false, err
	}
	return p, in.IncludeBody || query.ReadsBody(), nil
}

func inStates(n queue.Counts, states queue.States) (total uint64) {
	if states&queue.StateVisible != 0 {
		total += n.Visible
	}
	if states&queue.StateInFlight != 0 {
		total += n.InFlight
	}
	if states&queue.StateDelayed != 0 {
		total += n.Delayed
	}
	return total
}

func show(m *queue.Peeked, body bool) peekedMessage {
	out := peekedMessage{
		MessageId: m.ID.String(), State: stateName(m.State), Size: int64(m.Size), SentTimestamp: int64(m.SentAt),
		ReceiveCount:          int64(m.PriorReceives + m.Receives),
		FirstReceiveTimestamp: instant(m.First), LastReceiveTimestamp: instant(m.Last),
		InvisibleUntil: instant(m.Until),
		SenderId:       m.Sender, MessageGroupId: m.Group, MessageDeduplicationId: m.Dedup, AWSTraceHeader: m.Trace,
		DeadLetterSourceArn: m.Source,
	}
	if m.PriorFirst != 0 {
		out.FirstReceiveTimestamp = instant(m.PriorFirst)
	}
	if m.Sequence != 0 {
		out.SequenceNumber = strconv.FormatUint(m.Sequence, 10)
	}
	if m.IsEncrypted() {
		out.Unreadable = true
		return out
	}
	if len(m.Attributes) > 0 {
		out.MessageAttributes = make(map[string]attributeValue, len(m.Attributes))
	}
	for _, a := range m.Attributes {
		v := attributeValue{DataType: a.Type}
		if base, _, _ := strings.Cut(a.Type, "."); base == "Binary" {
			v.BinaryValue = []byte(a.Value)
		} else {
			v.StringValue = &a.Value
		}
		out.MessageAttributes[a.Name] = v
	}
	if body {
		out.Body, out.MD5OfBody = &m.Body, hex.EncodeToString(m.BodyMD5[:])
	}
	return out
}

// instant returns a time in milliseconds, or nil for no time.
func instant(i queue.Instant) *int64 {
	if i == 0 {
		return nil
	}
	ms := int64(i)
	return &ms
}
