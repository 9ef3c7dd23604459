package queue

import "fmt"

// base holds the state that all parts of a queue share: the transaction, the queue's attributes, and whether the
// transaction has changed the queue.
type base struct {
	*transaction
	cfg     Config
	rows    edition
	touched bool // is in transaction.touched
	dirty   bool // the queue's record must be written
}

// touch puts the queue on the list of queues that End updates: their records and their wake-up times.
func (b *base) touch() {
	if !b.touched {
		b.touched = true
		b.transaction.touched = append(b.transaction.touched, b)
	}
}

// markDirty makes End write the queue's record.
func (b *base) markDirty() {
	b.touch()
	b.dirty = true
}

// write stores the message at p, and returns the size of its record in bytes.
func (b *base) write(p Position, m *Message) int {
	b.needsFor(m.Attributes)
	b.scratch = m.encode(b.scratch)
	b.writeRecord(p, b.scratch)
	return len(b.scratch)
}

// writeRecord stores the record of a message at p.
func (b *base) writeRecord(p Position, record []byte) {
	k := b.key(b.cfg.ID, tableMessage).position(p)
	b.tx.Set(k, record)
	if b.memory != nil {
		b.memory.Put(k, record)
	}
}

// readMessage reads the message at p, which must exist.
func (b *base) readMessage(p Position) (*Message, error) {
	msg, err := ReadMessage(b.tx.Get, b.cfg.ID, p)
	if err == nil && msg == nil {
		err = fmt.Errorf("message %v of queue %d cannot be read: %w", p, b.cfg.ID, errMissing)
	}
	return msg, err
}

// sentAt reads when the message at p was sent.
func (b *base) sentAt(p Position) (Instant, error) {
	r, err := b.tx.Get(messageKey(b.cfg.ID, p))
	if err != nil {
		return 0, err
	}
	return sentAt(r)
}
