package encryption

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// The kinds of encrypted texts. The numbers are authenticated: one is never reused.
type what byte

const (
	aMessage     what = 1
	aPublication what = 2
	anEdit       what = 3
)

// Encrypt returns the messages in their stored form, without changing its argument. The error is keyring.ErrNoKey,
// keyring.ErrDisabled or ErrSuspended, as for edits and publications.
func (c *Cipher) Encrypt(s Setting, messages []queue.Outgoing) (*Sealed, error) {
	k, err := c.key(s.Key)
	if err != nil {
		return nil, err
	}
	d, err := c.dataKey(k, s.Queue, s.Period)
	if err != nil {
		return nil, err
	}
	return seal(d, messages), nil
}

// encryptWhole appends the body of an encrypted message with one part. It assembles the text there, and encrypts it in
// place.
func encryptWhole(b []byte, s *scratch, d *dataKey, of what, id queue.MessageID, t queue.Content) []byte {
	length := 1 + len(t.BodyMD5) + attributesLength(t.Attributes) + len(t.Body)
	w := varint.Writer(queue.BeginPart(b, t.Size(), d.length(length)))
	w = d.begin(w, &s.nonce)
	begins := len(w)
	w.Byte(1)
	w.Raw(t.BodyMD5[:])
	putAttributes(&w, t.Attributes)
	w = append(w, t.Body...)
	s.bound = boundTo(d.queue, place{id: id, of: of, last: true})
	return d.aead.Seal(w[:begins], s.nonce[:], w[begins:], s.bound[:])
}

// putAttributes appends attributes.
func putAttributes(w *varint.Writer, list []queue.Attribute) {
	w.Uint(uint64(len(list)))
	for _, a := range list {
		w.String(a.Name)
		w.String(a.Type)
		w.String(a.Value)
	}
}

// attributesLength returns the number of bytes that putAttributes appends.
func attributesLength(list []queue.Attribute) (n int) {
	n = varint.UintSize(uint64(len(list)))
	for _, a := range list {
		n += varint.StringSize(a.Name) + varint.StringSize(a.Type) + varint.StringSize(a.Value)
	}
	return n
}

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

// Decrypt decrypts an encrypted message. After an error, which is ErrUnreadable or ErrSuspended, m is unchanged.
func (c *Cipher) Decrypt(m *queue.Message) error {
	s := newBuffer()
	body := append(s.bytes[:0], m.Body...)
	defer s.release(body)
	return c.Open(m, body)
}

// Open implements queue.Cipher. The error is ErrUnreadable or ErrSuspended.
func (c *Cipher) Open(m *queue.Message, body []byte) error {
	text, size, err := c.text(body, m.EncryptedFor(), aMessage)
	if err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	content, ok := parseContent(text)
	if !ok || content.Size() != size {
		return fmt.Errorf("message %s: %w: its text is malformed", m.ID, ErrUnreadable)
	}
	m.SetContent(content)
	return nil
}

// text decrypts the parts of a body, encrypted under an id, into memory of its own, which is not changed afterwards. It
// also returns the size that the parts state.
func (c *Cipher) text(body []byte, id queue.MessageID, of what) (text []byte, size int, err error) {
	s := newBuffer()
	defer s.release(nil)
	number, encrypted := uint32(0), false
	err = queue.Parts(body, func(p queue.Part[[]byte], last bool) (err error) {
		n := number
		number++
		size += p.Size
		if encrypted = !p.Literal; encrypted {
			if n == 0 {
				text = make([]byte, 0, roomFor(body, p.Bytes, last))
			}
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
	case err == nil && !encrypted: // the last part is authentic, so a literal one comes before it
		err = fmt.Errorf("%w: its end is missing", ErrUnreadable)
	case err != nil && !errors.Is(err, ErrUnreadable) && !errors.Is(err, ErrSuspended):
		err = fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return text, size, err
}

// roomFor returns the memory that the text of a body with this first part needs. It is exact for one part, unless the
// id of the queue is long.
func roomFor(body, first []byte, last bool) int {
	if last {
		return max(0, len(first)-smallestPart)
	}
	return len(body)
}

// place is the place of a part.
type place struct {
	id     queue.MessageID
	of     what
	number uint32
	last   bool
}

// isSequence reports whether s has the form of a sequence number, the only text that may stand in a literal part. A
// literal part can only be the second part: so no encrypted part can be replaced by a literal one.
func isSequence(s []byte) bool {
	return len(s) == queue.SequenceDigits && len(bytes.Trim(s, "0123456789")) == 0
}

// parseContent parses the text of a message. The result shares the memory of the text, which must not change.
func parseContent(text []byte) (t queue.Content, ok bool) {
	r := varint.NewReader(unsafe.String(unsafe.SliceData(text), len(text)))
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
