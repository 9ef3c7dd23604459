package queue

import (
	"encoding/hex"
	"fmt"
	"time"
)

// MessageID is a message's UUID.
type MessageID [16]byte

// String returns the UUID in its usual form.
func (id MessageID) String() string {
	s := make([]byte, 0, 36)
	for i, part := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			s = append(s, '-')
		}
		s = hex.AppendEncode(s, part)
	}
	return string(s)
}

// Attribute is a message attribute as the sender gave it. Value holds a
// string's UTF-8 or the bytes of a binary value; Type tells which.
type Attribute struct {
	Name  string
	Type  string
	Value string
}

// Message is a stored message. Its fields never change while it is in one
// queue; a move to another writes a new one.
type Message struct {
	ID         MessageID
	SentAt     Instant
	Sender     string // SenderId
	Group      string // MessageGroupId
	Dedup      string // MessageDeduplicationId
	Trace      string // AWSTraceHeader
	Sequence   uint64 // SequenceNumber; 0 in a standard queue
	Source     string // DeadLetterQueueSourceArn
	BodyMD5    [16]byte
	Body       string
	Attributes []Attribute
	// PriorReceives and PriorFirst carry the count and time of receives over
	// a move to a dead-letter queue.
	PriorReceives uint64
	PriorFirst    Instant
}

// Size is how many bytes of the message are of the length that its sender chose:
// its body, its attributes, and what SQS calls system attributes.
func (m *Message) Size() int {
	n := len(m.Body) + len(m.Sender) + len(m.Group) + len(m.Dedup) + len(m.Trace) + len(m.Source)
	for _, a := range m.Attributes {
		n += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return n
}

// Outgoing is a message to be sent.
type Outgoing struct {
	ID         MessageID
	Sender     string
	Group      string
	Dedup      string
	Trace      string
	BodyMD5    [16]byte
	Body       string
	Attributes []Attribute
	// Delay overrides the queue's if it is not nil. FIFO queues ignore it.
	Delay *time.Duration
}

func (o *Outgoing) message(now Instant) *Message {
	return &Message{
		ID: o.ID, SentAt: now, Sender: o.Sender, Group: o.Group, Dedup: o.Dedup,
		Trace: o.Trace, BodyMD5: o.BodyMD5, Body: o.Body, Attributes: o.Attributes,
	}
}

// encode returns the record of m, in buf if it has room. The time of sending
// comes first, so that it can be read without the rest.
func (m *Message) encode(buf []byte) []byte {
	w := append(writer(buf[:0]), recordVersion)
	w.instant(m.SentAt)
	w.raw(m.ID[:])
	w.raw(m.BodyMD5[:])
	w.string(m.Sender)
	w.string(m.Group)
	w.string(m.Dedup)
	w.string(m.Trace)
	w.uint(m.Sequence)
	w.string(m.Source)
	w.uint(m.PriorReceives)
	w.instant(m.PriorFirst)
	w.uint(uint64(len(m.Attributes)))
	for _, a := range m.Attributes {
		w.string(a.Name)
		w.string(a.Type)
		w.string(a.Value)
	}
	w.string(m.Body)
	return w
}

func decodeMessage(b []byte) (*Message, error) {
	r := readRecord(b)
	m := &Message{SentAt: r.instant()}
	copy(m.ID[:], r.raw(16))
	copy(m.BodyMD5[:], r.raw(16))
	m.Sender = r.string()
	m.Group = r.string()
	m.Dedup = r.string()
	m.Trace = r.string()
	m.Sequence = r.uint()
	m.Source = r.string()
	m.PriorReceives = r.uint()
	m.PriorFirst = r.instant()
	n := r.uint()
	if n > uint64(len(r.rest)) { // each takes three bytes at least
		r.fail()
		n = 0
	}
	for range n {
		if r.err != nil {
			break
		}
		m.Attributes = append(m.Attributes, Attribute{Name: r.string(), Type: r.string(), Value: r.string()})
	}
	m.Body = r.string()
	return m, r.done("message")
}

// ageOf reads the time of sending and the group out of a message's record.
func ageOf(b []byte) (sent Instant, group string, err error) {
	r := readRecord(b)
	sent = r.instant()
	r.raw(16)       // id
	r.raw(16)       // digest
	r.raw(r.uint()) // sender
	group = r.string()
	if r.err != nil {
		return 0, "", fmt.Errorf("message: %w", r.err)
	}
	return sent, group, nil
}

// sentAt reads the time of sending out of a message's record.
func sentAt(b []byte) (Instant, error) {
	r := readRecord(b)
	t := r.instant()
	if r.err != nil {
		return 0, fmt.Errorf("message: %w", r.err)
	}
	return t, nil
}

// ReadMessage reads the message at p of queue q through get, or returns nil if
// it is no longer there; if Engine.Holds says otherwise, it is lost. It needs no
// engine: bodies are read outside the goroutine that owns the queue.
func ReadMessage(get func(key []byte) ([]byte, error), q ID, p Position) (*Message, error) {
	b, err := get(messageKey(q, p))
	if err != nil {
		return nil, fmt.Errorf("read message %v of queue %d: %w", p, q, err)
	}
	if b == nil {
		return nil, nil
	}
	m, err := decodeMessage(b)
	if err != nil {
		return nil, fmt.Errorf("read message %v of queue %d: %w", p, q, err)
	}
	return m, nil
}
