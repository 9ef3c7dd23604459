package encryption

import (
	"crypto/rand"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// editPeriod is how long a data key encrypts messages that a task has edited: SQS's default.
const editPeriod = 5 * time.Minute

// EncryptLike implements queue.Cipher. It returns ErrUnreadable if like names a key that the ring does not have.
func (c *Cipher) EncryptLike(m *queue.Message, like string) error {
	d, err := c.again(like)
	if err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	var s scratch
	m.Encrypted(string(encryptWhole(nil, &s, d, aMessage, m.ID, m.Content())))
	return nil
}

// again returns a data key for the queue and the key of an encrypted body.
func (c *Cipher) again(like string) (d *dataKey, err error) {
	err = queue.Parts([]byte(like), func(p queue.Part[[]byte], _ bool) error {
		if d != nil || p.Literal {
			return nil
		}
		was, err := takeApart(p.Bytes)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, err)
		}
		k := c.ring.Find(was.key)
		if k == nil {
			return fmt.Errorf("%w: %w", ErrUnreadable, keyring.ErrNoKey)
		}
		d, err = c.dataKey(k, was.queue, editPeriod)
		return err
	})
	if err == nil && d == nil {
		err = fmt.Errorf("%w: it has no encrypted part", ErrUnreadable)
	}
	return d, err
}

// EncryptEdit returns an edit in its stored form, without changing its argument.
func (c *Cipher) EncryptEdit(s Setting, e *queue.Edit) (*queue.Edit, error) {
	k, err := c.key(s.Key)
	if err != nil {
		return nil, err
	}
	var id queue.MessageID
	rand.Read(id[:])
	d, err := c.dataKey(k, s.Queue, s.Period)
	if err != nil {
		return nil, err
	}
	text := encodeEdit(e)
	body := d.encrypt(queue.BeginPart(nil, len(text), d.length(len(text))), text, place{id: id, of: anEdit, last: true})
	out := *e
	out.Encrypted(string(body), id)
	return &out, nil
}

// DecryptEdit implements queue.Cipher. The error is ErrUnreadable.
func (c *Cipher) DecryptEdit(e *queue.Edit) (*queue.Edit, error) {
	if e.Body == nil {
		return nil, fmt.Errorf("an edit: %w", ErrUnreadable)
	}
	text, _, err := c.text([]byte(*e.Body), e.EncryptedFor(), anEdit)
	if err != nil {
		return nil, fmt.Errorf("an edit: %w", err)
	}
	out := queue.Edit{MaxSize: e.MaxSize, MaxAttributes: e.MaxAttributes}
	if !decodeEdit(text, &out) {
		return nil, fmt.Errorf("an edit: %w: its text is malformed", ErrUnreadable)
	}
	return &out, nil
}

// encodeEdit returns the text of an edit:
//
//	0, or 1 | Body | BodyMD5; attributes | number of names | each
func encodeEdit(e *queue.Edit) []byte {
	var w varint.Writer
	if e.Body == nil {
		w.Byte(0)
	} else {
		w.Byte(1)
		w.String(*e.Body)
		w.Raw(e.BodyMD5[:])
	}
	putAttributes(&w, e.Set)
	w.Uint(uint64(len(e.Remove)))
	for _, name := range e.Remove {
		w.String(name)
	}
	return w
}

func decodeEdit(text []byte, e *queue.Edit) (ok bool) {
	r := varint.NewReader(string(text))
	if r.Byte() == 1 {
		body := r.String()
		e.Body = &body
		copy(e.BodyMD5[:], r.Raw(uint64(len(e.BodyMD5))))
	}
	if e.Set, ok = getAttributes(&r); !ok {
		return false
	}
	n := r.Uint()
	if n > uint64(r.Left()) {
		return false
	}
	for range n {
		e.Remove = append(e.Remove, r.String())
	}
	return !r.Failed() && r.Left() == 0
}
