package queue

import "fmt"

// FromShard names the shard that messages come from.
type FromShard struct {
	Shard int
}

// Accept accepts messages from the outbox of another shard, which has redriven, moved or published them to the queue.
// Positions must increase; otherwise the error is ErrOutOfOrder. The other shard repeats a call whose outcome it does
// not know, so Accept skips each message that is not behind the last one accepted from that shard. For the same reason,
// the other shard must not send a message before the ones in front of it are accepted.
//
// The message now belongs to the queue. Its retention period starts again in a FIFO queue, which is ordered by age, and
// after a move by a task, because a moved message is a new message. The copy of a publication counts as sent now.
func (e *Engine) Accept(id ID, from FromShard, messages []Transfer) error {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return err
	}
	for i := 1; i < len(messages); i++ {
		if messages[i].Position <= messages[i-1].Position {
			return ErrOutOfOrder
		}
	}
	last, err := q.arrivals.last(from)
	if err != nil {
		return fmt.Errorf("accept: %w", err)
	}
	some := false
	for i := range messages {
		if messages[i].Position <= last {
			continue
		}
		last, some = messages[i].Position, true
		m := messages[i].Message
		if messages[i].Copy {
			if _, err := q.send(m.outgoing()); err != nil {
				return fmt.Errorf("accept: %w", err)
			}
			continue
		}
		if q.cfg.FIFO || m.Source == "" {
			m.SentAt = e.now
		}
		m.SentAt = min(m.SentAt, e.now) // the other shard's clock may be ahead
		if err := q.accept(&m, e.now); err != nil {
			return fmt.Errorf("accept: %w", err)
		}
	}
	if some {
		q.arrivals.set(from, last)
	}
	return nil
}

// arrivals holds, for each other shard, the position of the last message accepted from it. Positions of a shard
// increase. So every message up to that position has arrived, or was purged on its way.
type arrivals struct{ *base }

// last returns the position of the last message that was accepted from another shard.
func (a *arrivals) last(from FromShard) (Position, error) {
	b, err := a.tx.Get(acceptedKey(a.cfg.ID, from))
	if b == nil || err != nil {
		return 0, err
	}
	return decodeAccepted(b)
}

func (a *arrivals) set(from FromShard, last Position) {
	a.tx.Set(acceptedKey(a.cfg.ID, from), encodeAccepted(last))
}

// leaveOut makes the queue skip the messages from other shards up to these positions.
func (a *arrivals) leaveOut(marks []Mark) error {
	for _, m := range marks {
		last, err := a.last(m.From)
		if err != nil {
			return fmt.Errorf("purge: %w", err)
		}
		if m.UpTo > last {
			a.set(m.From, m.UpTo)
		}
	}
	return nil
}

func encodeAccepted(last Position) []byte {
	w := newRecord(16)
	w.Uint(uint64(last))
	return w.Writer
}

func decodeAccepted(b []byte) (Position, error) {
	r := readRecord(b)
	p := Position(r.Uint())
	return p, r.done("accepted messages")
}
