package encryption

import (
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/varint"
)

// what is encrypted. The numbers are authenticated: one is never used for anything else.
type what byte

const (
	aMessage     what = 1
	aPublication what = 2
	anEdit       what = 3
)

// Encrypt returns the messages as they are stored: those given are not changed. The error is ErrNoKey.
func (c *Cipher) Encrypt(s Setting, messages []queue.Outgoing) ([]queue.Outgoing, error) {
	k, err := c.key(s.Key)
	if err != nil {
		return nil, err
	}
	d := c.dataKey(k, s.Queue, s.Period)
	out := make([]queue.Outgoing, len(messages))
	for i := range messages {
		m := messages[i]
		m.Encrypted(encryptWhole(d, aMessage, m.ID, queue.Content{Body: m.Body, BodyMD5: m.BodyMD5, Attributes: m.Attributes}), nil)
		out[i] = m
	}
	return out, nil
}

// buffers are where messages are put together, and where parts are decrypted.
var buffers = sync.Pool{New: func() any { return new(buffer) }}

// buffer is what encryption takes beside its result. All of it is here, because what an AEAD is given is on the heap.
type buffer struct {
	bytes []byte
	nonce [12]byte
	bound [boundSize]byte
}

// largestBuffer is the most memory that is kept for the next use, in bytes.
const largestBuffer = 64 << 10

// newBuffer returns a buffer, to be released.
func newBuffer() *buffer { return buffers.Get().(*buffer) }

// release keeps the buffer for the next use, without the text that is in b, which took its bytes.
func (s *buffer) release(b []byte) {
	clear(b)
	if s.bytes = nil; cap(b) <= largestBuffer {
		s.bytes = b[:0]
	}
	buffers.Put(s)
}

// encryptWhole returns the body of an encrypted message with one part.
func encryptWhole(d *dataKey, of what, id queue.MessageID, t queue.Content) string {
	s := newBuffer()
	size, length := len(t.Body), 1+len(t.BodyMD5)+len(t.Body)
	length += attributesLength(t.Attributes, &size)
	w := varint.Writer(queue.BeginPart(s.bytes[:0], size, d.length(length)))
	w = d.begin(w, &s.nonce)
	begins := len(w)
	w.Byte(1)
	w.Raw(t.BodyMD5[:])
	putAttributes(&w, t.Attributes)
	w = append(w, t.Body...)
	s.bound = boundTo(d.queue, place{id: id, of: of, last: true})
	w = d.aead.Seal(w[:begins], s.nonce[:], w[begins:], s.bound[:])
	body := string(w)
	s.release(w)
	return body
}

// putAttributes appends attributes, and returns their size as SQS counts it.
func putAttributes(w *varint.Writer, list []queue.Attribute) (size int) {
	w.Uint(uint64(len(list)))
	for _, a := range list {
		w.String(a.Name)
		w.String(a.Type)
		w.String(a.Value)
		size += len(a.Name) + len(a.Type) + len(a.Value)
	}
	return size
}

// attributesLength returns how many bytes putAttributes appends, and adds to the size.
func attributesLength(list []queue.Attribute, size *int) (n int) {
	n = varintLength(uint64(len(list)))
	for _, a := range list {
		for _, text := range [...]string{a.Name, a.Type, a.Value} {
			n += varintLength(uint64(len(text))) + len(text)
			*size += len(text)
		}
	}
	return n
}

// varintLength returns how many bytes a varint takes.
func varintLength(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// boundSize is the size of the associated data of a part, in bytes.
const boundSize = 16 + 8 + 16 + 1 + 4 + 1

// boundTo returns the associated data of a part.
func boundTo(q queue.ID, at place) (b [boundSize]byte) {
	n := copy(b[:], "sluice message 1")
	binary.BigEndian.PutUint64(b[n:], uint64(q))
	n += 8
	n += copy(b[n:], at.id[:])
	b[n] = byte(at.of)
	binary.BigEndian.PutUint32(b[n+1:], at.number)
	if at.last {
		b[n+5] = 1
	}
	return b
}

// Decrypt implements queue.Cipher. The error is ErrUnreadable; m is as before then.
func (c *Cipher) Decrypt(m *queue.Message) error {
	s := newBuffer()
	text, err := c.text(s, m.Body, m.EncryptedFor(), aMessage)
	defer s.release(text)
	if err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	content, ok := parseContent(text)
	is := *m
	if is.Decrypted(content); !ok || is.Size() != m.Size() {
		return fmt.Errorf("message %s: %w: its text is malformed", m.ID, ErrUnreadable)
	}
	*m = is
	return nil
}

// text returns what the parts of a body hold, which were encrypted for an id, in the bytes of s.
func (c *Cipher) text(s *buffer, body string, id queue.MessageID, of what) ([]byte, error) {
	number, encrypted := uint32(0), false
	text := s.bytes[:0]
	err := queue.Parts(body, func(p queue.Part, last bool) (err error) {
		n := number
		number++
		if encrypted = !p.Literal; encrypted {
			text, err = c.open(s, text, p.Bytes, place{id: id, of: of, number: n, last: last})
			return err
		}
		if n != 1 || !isSequence(p.Bytes) {
			return fmt.Errorf("%w: it has text that is not encrypted", ErrUnreadable)
		}
		text = append(text, p.Bytes...)
		return nil
	})
	switch {
	case err == nil && !encrypted: // the last part is authentic, so a literal one stands before it
		err = fmt.Errorf("%w: its end is missing", ErrUnreadable)
	case err != nil && !errors.Is(err, ErrUnreadable):
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return text, err
}

// place is where a part belongs.
type place struct {
	id     queue.MessageID
	of     what
	number uint32
	last   bool
}

// isSequence reports whether s has the form of a sequence number, the only text that may stand in a literal part. It is
// the second part if there is one: so no encrypted part can be replaced by a literal one.
func isSequence(s string) bool {
	return len(s) == queue.SequenceDigits && strings.Trim(s, "0123456789") == ""
}

// parseContent reads the text of a message.
func parseContent(text []byte) (t queue.Content, ok bool) {
	r := varint.NewReader(string(text))
	digest := r.Byte()
	if digest == 1 {
		copy(t.BodyMD5[:], r.Raw(md5.Size))
	}
	if t.Attributes, ok = getAttributes(&r); !ok || digest > 1 {
		return t, false
	}
	t.Body = r.Raw(uint64(r.Left()))
	if digest == 0 {
		t.BodyMD5 = md5.Sum([]byte(t.Body))
	}
	return t, !r.Failed()
}

func getAttributes(r *varint.Reader[string]) (list []queue.Attribute, ok bool) {
	n := r.Uint()
	if n > uint64(r.Left()/3) {
		return nil, false
	}
	for range n {
		list = append(list, queue.Attribute{Name: r.String(), Type: r.String(), Value: r.String()})
	}
	return list, !r.Failed()
}

var _ queue.Cipher = (*Cipher)(nil)
