package queue

import (
	"encoding/hex"
	"fmt"
	"time"
)

// MessageID is a message's UUID.
type MessageID [16]byte

// String returns the UUID in its usual form.
func (id MessageID) String() string { return string(id.AppendTo(make([]byte, 0, MessageIDLength))) }

// MessageIDLength is the length of a message's UUID in its usual form.
const MessageIDLength = 36

// AppendTo appends the UUID in its usual form.
func (id MessageID) AppendTo(s []byte) []byte {
	for i, part := range [...][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			s = append(s, '-')
		}
		s = hex.AppendEncode(s, part)
	}
	return s
}

// Attribute is a message attribute as the client sent it. Value holds a string in UTF-8, or a binary value, depending
// on Type.
type Attribute struct {
	Name  string
	Type  string
	Value string
}

// Message is a stored message. Its fields never change while it is in one queue; a move to another queue writes a new
// message.
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
	// PriorReceives and PriorFirst are set for dead letters: the number of receives in the source queues, and the time
	// of the first.
	PriorReceives uint64
	PriorFirst    Instant
}

// Size returns the size of the parts of the message whose length its sender chose, in bytes: its body, its attributes,
// and SQS's system attributes.
func (m *Message) Size() int {
	return m.bodySize() + len(m.Sender) + len(m.Group) + len(m.Dedup) + len(m.Trace) + len(m.Source)
}

// bodySize returns the size that SQS limits, in bytes: the body and the attributes.
func (m *Message) bodySize() int {
	return textSize(m.Body, m.Attributes)
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
	// Delay overrides the queue's delay if it is not nil. FIFO queues ignore it.
	Delay *time.Duration
}

// Size returns the size of the message that is made from o; see Message.Size.
func (o *Outgoing) Size() int {
	n := len(o.Body) + len(o.Sender) + len(o.Group) + len(o.Dedup) + len(o.Trace)
	for _, a := range o.Attributes {
		n += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return n
}

// Content returns the encrypted part of o, or its ciphertext.
func (o *Outgoing) Content() Content {
	return Content{Body: o.Body, BodyMD5: o.BodyMD5, Attributes: o.Attributes}
}

// outgoing returns m in the form in which it is sent.
func (m *Message) outgoing() *Outgoing {
	return &Outgoing{
		ID: m.ID, Sender: m.Sender, Group: m.Group, Dedup: m.Dedup,
		Trace: m.Trace, BodyMD5: m.BodyMD5, Body: m.Body, Attributes: m.Attributes,
	}
}

func (o *Outgoing) message(now Instant) *Message {
	return &Message{
		ID: o.ID, SentAt: now, Sender: o.Sender, Group: o.Group, Dedup: o.Dedup,
		Trace: o.Trace, BodyMD5: o.BodyMD5, Body: o.Body, Attributes: o.Attributes,
	}
}

// encode returns the record of m, in buf if it has room. The time of sending comes first, so that it can be read alone.
func (m *Message) encode(buf []byte) []byte {
	w := beginRecord(buf)
	w.Instant(m.SentAt)
	w.Raw(m.ID[:])
	w.Raw(m.BodyMD5[:])
	w.String(m.Sender)
	w.String(m.Group)
	w.String(m.Dedup)
	w.String(m.Trace)
	w.Uint(m.Sequence)
	w.String(m.Source)
	w.Uint(m.PriorReceives)
	w.Instant(m.PriorFirst)
	w.attributes(m.Attributes)
	w.String(m.Body)
	return w.Writer
}

func (w *writer) attributes(list []Attribute) {
	w.Uint(uint64(len(list)))
	for _, a := range list {
		w.String(a.Name)
		w.String(a.Type)
		w.String(a.Value)
	}
}

func decodeMessage(b []byte) (*Message, error) {
	r := readRecord(b)
	m := r.message()
	return &m, r.done("message")
}

// open reads a message from its record, and decrypts it if necessary. If the cipher cannot decrypt it, m stays
// encrypted, and unreadable is the reason. The ciphertext is not copied.
func (m *Message) open(record []byte, c Cipher) (unreadable, err error) {
	r := readRecord(record)
	body := r.messageAndBody(m)
	if err := r.done("message"); err != nil {
		return nil, err
	}
	if m.IsEncrypted() {
		if unreadable = c.Open(m, body); unreadable == nil {
			return nil, nil
		}
	}
	m.Body = string(body)
	return unreadable, nil
}

// message reads the fields of a message.
func (r *reader) message() (m Message) {
	m.Body = string(r.messageAndBody(&m))
	return m
}

// messageAndBody reads the fields of a message, and returns its body, which shares memory with the record.
func (r *reader) messageAndBody(m *Message) (body []byte) {
	m.SentAt = r.Instant()
	copy(m.ID[:], r.Raw(16))
	copy(m.BodyMD5[:], r.Raw(16))
	m.Sender = r.String()
	m.Group = r.String()
	m.Dedup = r.String()
	m.Trace = r.String()
	m.Sequence = r.Uint()
	m.Source = r.String()
	m.PriorReceives = r.Uint()
	m.PriorFirst = r.Instant()
	m.Attributes = r.attributes()
	return r.Raw(r.Uint())
}

func (r *reader) attributes() (list []Attribute) {
	n := r.count(3)
	if n == 1 && r.mark() {
		return encryptedMark(nil)
	}
	for range n {
		if r.Failed() {
			break
		}
		list = append(list, Attribute{Name: r.String(), Type: r.String(), Value: r.String()})
	}
	return list
}

// ageOf reads the time of sending and the group from a message's record.
func ageOf(b []byte) (sent Instant, group string, err error) {
	r := readRecord(b)
	sent = r.Instant()
	r.Raw(16)       // id
	r.Raw(16)       // digest
	r.Raw(r.Uint()) // sender
	group = r.String()
	if r.Failed() {
		return 0, "", fmt.Errorf("message: %w", r.err())
	}
	return sent, group, nil
}

// sentAt reads the time of sending from a message's record.
func sentAt(b []byte) (Instant, error) {
	r := readRecord(b)
	t := r.Instant()
	if r.Failed() {
		return 0, fmt.Errorf("message: %w", r.err())
	}
	return t, nil
}

// ReadMessage reads the message at p of queue q through get, as it is stored, or returns nil if it is no longer there.
func ReadMessage(get func(key []byte) ([]byte, error), q ID, p Position) (*Message, error) {
	var m Message
	r := MessageReader{Keys: NoCipher}
	if found, err := r.Read(&m, get, q, p); !found || err != nil {
		return nil, err
	}
	return &m, nil
}

// MessageReader reads messages. It needs no engine: bodies are read outside the goroutine that owns the queue.
type MessageReader struct {
	Keys Cipher
	key  [8 + 1 + 8]byte
}

// Read reads the message at p of queue q into m through get, whose key is valid during the call, and decrypts it if it
// can: IsEncrypted reports an unreadable one. Read returns false if the message is no longer there. (If Engine.Holds
// still reports it, it is lost.)
func (r *MessageReader) Read(
	m *Message, get func(key []byte) ([]byte, error), q ID, p Position,
) (found bool, err error) {
	b, err := get(appendTableKey(r.key[:0], q, tableMessage).position(p))
	if err == nil && b != nil {
		_, err = m.open(b, r.Keys)
	}
	if err != nil {
		return false, fmt.Errorf("read message %v of queue %d: %w", p, q, err)
	}
	return b != nil, nil
}
