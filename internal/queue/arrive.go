package queue

import "fmt"

// Source is where messages arrive from.
type Source struct {
	Shard int
}

// Arrive admits messages that were redriven or moved to the queue on another
// shard. What has a position up to the last one that has arrived from there is
// left out: a call whose outcome is unknown is repeated until there is one, and
// counts once. Positions must grow, or else it is ErrOutOfOrder; and a source
// must bring its messages in order, each until it has arrived.
//
// A message becomes the queue's own here. In a FIFO queue, which is in order of
// age, its retention starts anew; so does that of what a task has moved, which
// is a new message.
func (e *Engine) Arrive(id ID, from Source, messages []Arriving) error {
	q, err := e.enter(id)
	if err != nil {
		return err
	}
	for i := 1; i < len(messages); i++ {
		if messages[i].Position <= messages[i-1].Position {
			return ErrOutOfOrder
		}
	}
	last, err := q.arrived(from)
	if err != nil {
		return fmt.Errorf("arrive: %w", err)
	}
	some := false
	for i := range messages {
		if messages[i].Position <= last {
			continue
		}
		last, some = messages[i].Position, true
		m := messages[i].Message
		if q.cfg.FIFO || m.Source == "" {
			m.SentAt = e.now
		}
		m.SentAt = min(m.SentAt, e.now) // the other shard's clock may be ahead
		if err := q.admit(&m, e.now); err != nil {
			return fmt.Errorf("arrive: %w", err)
		}
	}
	if some {
		e.tx.Set(arrivalKey(id, from), encodeArrival(last))
	}
	return nil
}

// arrived returns the last position that has arrived from a source.
func (q *queue) arrived(from Source) (Position, error) {
	b, err := q.e.tx.Get(arrivalKey(q.cfg.ID, from))
	if b == nil || err != nil {
		return 0, err
	}
	return decodeArrival(b)
}

func encodeArrival(last Position) []byte {
	w := newRecord(16)
	w.uint(uint64(last))
	return w
}

func decodeArrival(b []byte) (Position, error) {
	r := readRecord(b)
	p := Position(r.uint())
	return p, r.done("arrival")
}
