package queue

import "fmt"

// index assigns positions to the messages of a queue that are not in its line, and finds them by age. A new message of
// a FIFO queue is the newest one, so positions are in order of age. Any other message has a row in the table of ages,
// with the end of its delay and its group.
//
//   - last never decreases, so positions are never reused.
//   - While there are messages, none was sent before floor, and in a FIFO queue none is before head.
type index struct {
	*base
	indexRecord
}

// end returns the position that the next message gets.
func (x *index) end() Position { return (x.last | indexedBit) + 1 }

// place returns the position of a new message, sent at an instant. only means that there are no others.
func (x *index) place(sent Instant, only bool) Position {
	x.last++
	p := x.last | indexedBit
	if only {
		x.floor, x.head = sent, p
	}
	x.floor = min(x.floor, sent)
	return p
}

// sequence returns the SequenceNumber of a position. It has 20 digits. It grows within the queue, and from a deleted
// queue to a new one with the same name.
func (x *index) sequence(p Position) uint64 {
	const base = 10_000_000_000_000_000_000
	return base + uint64(x.cfg.Created)<<20 + uint64(p&^indexedBit)
}

// setAge writes the row of a message, unless its position is in order of age.
func (x *index) setAge(p Position, sent Instant, group string, due Instant) {
	if x.cfg.FIFO {
		return
	}
	x.tx.Set(x.rows.ageKey(x.cfg.ID, sent, p), encodeTimed(due, group))
}

// dropAge removes the row of a message, if it has one.
func (x *index) dropAge(p Position, sent Instant) {
	if !x.cfg.FIFO {
		x.tx.DeleteOnce(x.rows.ageKey(x.cfg.ID, sent, p))
	}
}

// dueOf returns when the delay of a message of a standard queue ends or has ended, from its row.
func (x *index) dueOf(p Position, sent Instant) (Instant, error) {
	b, err := x.tx.Get(x.rows.ageKey(x.cfg.ID, sent, p))
	if err != nil {
		return 0, err
	}
	if b == nil {
		return 0, fmt.Errorf("age of %v: %w", p, errMissing)
	}
	due, _, err := decodeAge(b)
	return due, err
}

// decodeAge reads the row of a message: when its delay ended, if it had one, and its group.
func decodeAge(row []byte) (due Instant, group string, err error) {
	return decodeTimed(row, "message age")
}

// aged is a message as it is found by its age.
type aged struct {
	pos   Position
	sent  Instant
	due   Instant // the end of its delay, if it had one
	group string
}

// old returns the first messages that were sent at limit or before, a bounded number, and the time at which the next
// message was sent, or never if there is none.
func (x *index) old(limit Instant) (old []aged, floor Instant, err error) {
	if x.cfg.FIFO {
		return x.oldByPosition(limit)
	}
	return x.oldByAge(limit)
}

// oldByAge is old for standard queues.
func (x *index) oldByAge(limit Instant) (old []aged, floor Instant, err error) {
	var bad error
	floor = never
	_, end := x.rows.tableRange(x.cfg.ID, tableAge)
	err = x.tx.Scan(x.rows.ageKey(x.cfg.ID, x.floor, 0), end, func(k, v []byte) bool {
		a := aged{sent: Instant(tail(k, 1)), pos: Position(tail(k, 0))}
		if a.sent > limit || len(old) == workAtOnce {
			floor = a.sent
			return false
		}
		a.due, a.group, bad = decodeAge(v)
		old = append(old, a)
		return bad == nil
	})
	return old, floor, firstError(err, bad)
}

// oldByPosition is old for FIFO queues. It reads whole messages, with their bodies, and moves head to the point where
// it stops.
func (x *index) oldByPosition(limit Instant) (old []aged, floor Instant, err error) {
	var bad error
	floor = never
	work := 0
	_, end := tableRange(x.cfg.ID, tableMessage)
	err = x.tx.Scan(messageKey(x.cfg.ID, x.head), end, func(k, v []byte) bool {
		a := aged{pos: Position(tail(k, 0))}
		a.sent, a.group, bad = ageOf(v)
		x.head = a.pos
		if bad != nil || a.sent > limit || work >= workAtOnce {
			floor = a.sent
			return false
		}
		work += 1 + len(v)>>10
		old = append(old, a)
		return true
	})
	return old, floor, firstError(err, bad)
}

// oldest returns when the oldest message was sent or arrived from another queue, or never if there is none. In a
// standard queue it skips up to looksAtMost messages for which ignore returns true.
func (x *index) oldest(ignore func(aged) bool) (Instant, error) {
	if x.cfg.FIFO {
		return x.oldestByPosition()
	}
	return x.oldestByAge(ignore)
}

// oldestByPosition is oldest for FIFO queues.
func (x *index) oldestByPosition() (Instant, error) {
	oldest := never
	var bad error
	_, end := tableRange(x.cfg.ID, tableMessage)
	err := x.tx.Scan(messageKey(x.cfg.ID, x.head), end, func(_, v []byte) bool {
		oldest, bad = sentAt(v)
		return false
	})
	return oldest, firstError(err, bad)
}

// oldestByAge is oldest for standard queues. The age of a message from another queue counts from its arrival. Messages
// arrive in order of position. So if the first message by age is from another queue, the first one by position is the
// oldest.
func (x *index) oldestByAge(ignore func(aged) bool) (Instant, error) {
	oldest := never
	var first aged
	var bad error
	looked := 0
	_, end := x.rows.tableRange(x.cfg.ID, tableAge)
	err := x.tx.Scan(x.rows.ageKey(x.cfg.ID, x.floor, 0), end, func(k, v []byte) bool {
		first = aged{sent: Instant(tail(k, 1)), pos: Position(tail(k, 0))}
		if first.due, first.group, bad = decodeAge(v); bad == nil && looked < looksAtMost && ignore(first) {
			looked++
			return true
		}
		oldest = first.sent
		return false
	})
	if err := firstError(err, bad); err != nil || oldest == never || first.due == first.sent {
		return oldest, err
	}
	return x.arrival(first)
}

// arrival returns when the first message by age arrived: it was delayed, or it is from another queue.
func (x *index) arrival(a aged) (Instant, error) {
	m, err := x.readMessage(a.pos)
	if err != nil || m.Source == "" {
		return a.sent, err
	}
	at := a.due
	_, end := tableRange(x.cfg.ID, tableMessage)
	err = x.tx.Scan(messageKey(x.cfg.ID, max(x.head, indexedBit)), end, func(k, v []byte) bool {
		a = aged{pos: Position(tail(k, 0))}
		a.sent, err = sentAt(v)
		return false
	})
	if err != nil {
		return 0, err
	}
	b, err := x.tx.Get(x.rows.ageKey(x.cfg.ID, a.sent, a.pos))
	if b == nil || err != nil {
		return at, err
	}
	due, _, err := decodeAge(b)
	return min(at, max(a.sent, due)), err
}

// purge forgets all messages.
func (x *index) purge() { x.indexRecord = indexRecord{last: x.last, head: x.end()} }

// lower lowers floor and head for a message from an earlier time. only means that there are no others.
func (x *index) lower(p Position, sent Instant, only bool) {
	if only {
		x.floor, x.head = sent, p
	}
	x.floor, x.head = min(x.floor, sent), min(x.head, p)
}
