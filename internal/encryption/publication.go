package encryption

import (
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// publicationPeriod is how long a data key encrypts copies of publications.
const publicationPeriod = 5 * time.Minute

// EncryptPublication returns a publication as it is stored: key returns the name of the key for the copies of a queue,
// or false if these are not to be encrypted. It does not change the publication.
//
// Copies with a common beginning share its ciphertext as well. The sequence number, which the engine writes, is in a
// literal part.
func (c *Cipher) EncryptPublication(
	p queue.Publication, key func(queue.ID) (name string, on bool),
) (queue.Publication, error) {
	e := copies{cipher: c, id: p.ID}
	for i := range p.Copies {
		name, on := key(p.Copies[i].Queue)
		if !on {
			continue
		}
		if e.out == nil {
			e.out = slices.Clone(p.Copies)
		}
		if err := e.encrypt(&e.out[i], name); err != nil {
			return p, err
		}
	}
	if e.out != nil {
		p.Copies = e.out
	}
	return p, nil
}

// copies encrypts the copies of a publication.
type copies struct {
	cipher *Cipher
	id     queue.MessageID
	out    []queue.Copy
	begun  []beginning // the last few
}

// beginning is the common beginning of copies.
type beginning struct {
	data       *dataKey
	body       string
	attributes int
	at         int
	whole      bool

	encrypted string
	sequence  int    // place of the sequence number in encrypted; 0: none
	next      uint32 // number of the next part
}

// beginningsKept is how many beginnings are remembered: an envelope and a raw text, under a few keys.
const beginningsKept = 8

func (e *copies) encrypt(one *queue.Copy, name string) error {
	k, err := e.cipher.key(name)
	if err != nil {
		return err
	}
	d, err := e.cipher.dataKey(k, 0, publicationPeriod)
	if err != nil {
		return err
	}
	m := &one.Message
	b := e.beginning(beginning{
		data: d, body: m.Body, attributes: len(m.Attributes), at: one.SequenceAt, whole: one.Tail == "",
	}, m)
	if one.Tail != "" {
		one.Tail = string(e.part(nil, b.data, []byte(one.Tail), len(one.Tail), b.next, true))
	}
	one.SequenceAt = b.sequence
	m.Encrypted(b.encrypted, &e.id)
	return nil
}

// beginning returns the encrypted beginning of a copy, possibly shared with earlier copies.
func (e *copies) beginning(b beginning, m *queue.Outgoing) beginning {
	for _, had := range e.begun {
		if had.data == b.data && had.at == b.at && had.whole == b.whole && had.attributes == b.attributes &&
			had.body == b.body {
			return had
		}
	}
	e.encryptBeginning(&b, m)
	if len(e.begun) == beginningsKept {
		e.begun = e.begun[1:]
	}
	e.begun = append(e.begun, b)
	return b
}

func (e *copies) encryptBeginning(b *beginning, m *queue.Outgoing) {
	first, rest := b.body, ""
	if end := b.at + queue.SequenceDigits; b.at > 0 && end <= len(b.body) {
		first, rest = b.body[:b.at], b.body[end:]
	}
	var w varint.Writer
	if b.whole && b.at == 0 {
		w.Byte(1)
		w.Raw(m.BodyMD5[:])
	} else {
		w.Byte(0)
	}
	putAttributes(&w, m.Attributes)
	size := queue.Content{Body: first, Attributes: m.Attributes}.Size()
	w = append(w, first...)
	out := e.part(nil, b.data, w, size, 0, b.whole && rest == "")
	b.next = 1
	if rest != "" {
		digits := b.body[b.at : b.at+queue.SequenceDigits]
		out = queue.AppendPart(out, queue.Part[string]{Literal: true, Size: len(digits), Bytes: digits})
		b.sequence = len(out) - queue.SequenceDigits
		out = e.part(out, b.data, []byte(rest), len(rest), 2, b.whole)
		b.next = 3
	}
	b.encrypted = string(out)
}

// part appends an encrypted part.
func (e *copies) part(out []byte, d *dataKey, text []byte, size int, number uint32, last bool) []byte {
	out = queue.BeginPart(out, size, d.length(len(text)))
	return d.encrypt(slices.Grow(out, d.length(len(text))), text, place{
		id: e.id, of: aPublication, number: number, last: last,
	})
}
