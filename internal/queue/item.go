package queue

import (
	"errors"

	"github.com/sluicemq/sluice/internal/search"
)

// itemReader presents messages to filters.
type itemReader struct {
	search.Item
	messageID MessageID
	text      [36]byte // of the id
	decrypted *Message // decrypted content, if readable; nil: not encrypted
	sealed    []byte   // the stored body, if encrypted
	readable  bool     // false: encrypted, and cannot be decrypted
	suspended bool     // it may be readable later
}

// read reads a message without copying its texts. m is nil if it was not received.
func (it *itemReader) read(value []byte, m *received, now Instant) error {
	attributes := it.Attributes[:0]
	it.Item, it.decrypted, it.sealed = search.Item{Now: int64(now)}, nil, nil
	it.readable, it.suspended = true, false
	r := readRecord(value)
	it.Sent = int64(r.Instant())
	copy(it.messageID[:], r.Raw(16))
	it.ID = it.messageID.AppendTo(it.text[:0])
	r.Raw(16) // digest
	it.Sender = r.Raw(r.Uint())
	it.Group = r.Raw(r.Uint())
	it.Dedup = r.Raw(r.Uint())
	trace := r.Raw(r.Uint())
	r.Uint() // sequence
	it.Source = r.Raw(r.Uint())
	it.Count = r.Uint()
	it.First = int64(r.Instant())
	it.Size = len(it.Sender) + len(it.Group) + len(it.Dedup) + len(trace) + len(it.Source)
	for range r.Uint() {
		if r.Failed() {
			break
		}
		a := search.Attribute{Name: r.Raw(r.Uint()), Type: r.Raw(r.Uint()), Value: r.Raw(r.Uint())}
		it.Size += len(a.Name) + len(a.Type) + len(a.Value)
		attributes = append(attributes, a)
	}
	it.Attributes = attributes
	it.Body = r.Raw(r.Uint())
	it.Size += len(it.Body)
	if m != nil {
		it.Count += m.receives
		if it.First == 0 {
			it.First = int64(m.first)
		}
	}
	return r.done("message")
}

// decrypt makes the text of an encrypted message available to filters after read. A message that cannot be decrypted
// has no text.
func (it *itemReader) decrypt(value []byte, c Cipher) error {
	if a := it.Attributes; len(a) != 1 || len(a[0].Name) > 0 || string(a[0].Type) != encryptedType {
		return nil
	}
	m := new(Message)
	unreadable, err := m.open(value, orNone(c))
	if err != nil {
		return err
	}
	it.sealed, it.decrypted = it.Body, m
	it.readable, it.suspended = unreadable == nil, errors.Is(unreadable, ErrSuspended)
	it.Size, it.Attributes, it.Body = m.Size(), it.Attributes[:0], nil
	if !it.readable {
		return nil
	}
	for _, a := range m.Attributes {
		it.Attributes = append(it.Attributes, search.Attribute{
			Name: []byte(a.Name), Type: []byte(a.Type), Value: []byte(a.Value),
		})
	}
	it.Body = []byte(m.Body)
	return nil
}

// matches reports whether a query selects the message. A query that reads texts never selects a message that cannot be
// decrypted, not even a query for messages without a word: the text is unknown.
func (it *itemReader) matches(q *search.Query) bool {
	return (it.readable || !q.ReadsText()) && q.Match(&it.Item)
}

// wantedIDs returns a set of ids, or nil if there are none.
func wantedIDs(ids []MessageID) map[MessageID]bool {
	if len(ids) == 0 {
		return nil
	}
	set := make(map[MessageID]bool, len(ids))
	for _, id := range ids {
		set[id] = true
	}
	return set
}
