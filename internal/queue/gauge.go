package queue

import "fmt"

// looksAtMost bounds how many messages are looked at for a gauge.
const looksAtMost = 100

// gauges sets how the queue stands.
func (q *queue) gauges(r *Row) error {
	n := q.counts()
	r.set(MetricVisible, n.Visible)
	r.set(MetricInFlight, n.InFlight)
	r.set(MetricDelayed, n.Delayed)
	age, err := q.oldestAge(nil)
	if err != nil {
		return fmt.Errorf("the oldest message: %w", err)
	}
	r.set(MetricOldestAge, age)
	if q.cfg.FIFO {
		r.set(MetricGroupsInFlight, q.groupsInFlight())
		return nil
	}
	return q.fairness(r)
}

func (q *queue) groupsInFlight() (n uint64) {
	for _, g := range q.groups.active {
		for _, m := range g.held {
			if m.inFlight {
				n++
				break
			}
		}
	}
	return n
}

// oldestAge returns how many seconds ago the oldest message was sent, or came from
// another queue, or 0 if there is none. It leaves out groups, if it is given some.
//
// As in SQS, a message of a standard queue that was received three times does not count:
// it may never be processed, and would hide how old the others are.
func (q *queue) oldestAge(without map[string]uint64) (seconds uint64, err error) {
	oldest := never
	if q.lineCount() > 0 {
		if oldest, err = q.oldestOfLine(); err != nil {
			return 0, err
		}
	}
	if q.indexedCount() > 0 {
		find := q.oldestByAge
		if q.cfg.FIFO {
			find = q.oldestByPosition
		}
		at, err := find(without)
		if err != nil {
			return 0, err
		}
		oldest = min(oldest, at)
	}
	return uint64(max(0, q.now-oldest)) / 1000, nil
}

// ignored reports whether a message does not count for the age of the oldest.
func (m *received) ignored() bool { return m != nil && m.receives >= 3 }

// oldestOfLine returns when the oldest message of the line was sent, or never.
func (q *queue) oldestOfLine() (Instant, error) {
	looked := 0
	for _, m := range q.oldest {
		if m.removed || m.ignored() {
			continue
		}
		if looked++; m.sent != 0 || looked > looksAtMost {
			return m.sent, nil
		}
		sent, err := q.sentAt(m.pos)
		m.sent = sent
		return sent, err
	}
	if q.line.head < q.line.next {
		return q.sentAt(q.line.head)
	}
	return never, nil
}

// oldestByPosition is for FIFO queues, in which messages are in order of age.
func (q *queue) oldestByPosition(map[string]uint64) (Instant, error) {
	oldest := never
	var bad error
	_, end := tableRange(q.cfg.ID, tableMessage)
	err := q.tx.Scan(messageKey(q.cfg.ID, q.index.head), end, func(_, v []byte) bool {
		oldest, bad = sentAt(v)
		return false
	})
	return oldest, firstError(err, bad)
}

// oldestByAge is for the messages of standard queues that are not in the line. One that
// came from another queue is as old as its arrival. They arrive in order of position, so
// that where the first by age has arrived, the first by position is the oldest.
func (q *queue) oldestByAge(without map[string]uint64) (Instant, error) {
	oldest := never
	var first aged
	var bad error
	looked := 0
	_, end := tableRange(q.cfg.ID, tableAge)
	err := q.tx.Scan(tableKey(q.cfg.ID, tableAge).instant(q.index.floor), end, func(k, v []byte) bool {
		first = aged{sent: Instant(tail(k, 1)), pos: Position(tail(k, 0))}
		r := readRecord(v)
		first.due, first.group = r.Instant(), r.String()
		bad = r.done("message age")
		if _, out := without[first.group]; (out || q.received[first.pos].ignored()) && looked < looksAtMost && bad == nil {
			looked++
			return true
		}
		oldest = first.sent
		return false
	})
	if err := firstError(err, bad); err != nil || oldest == never || first.due == first.sent {
		return oldest, err
	}
	return q.arrival(first)
}

// arrival returns when the first message by age came: it was delayed, or it is from
// another queue.
func (q *queue) arrival(a aged) (Instant, error) {
	m, err := q.readMessage(a.pos)
	if err != nil || m.Source == "" {
		return a.sent, err
	}
	at := a.due
	_, end := tableRange(q.cfg.ID, tableMessage)
	err = q.tx.Scan(messageKey(q.cfg.ID, indexedBit), end, func(k, v []byte) bool {
		a = aged{pos: Position(tail(k, 0))}
		a.sent, err = sentAt(v)
		return false
	})
	if err != nil {
		return 0, err
	}
	b, err := q.tx.Get(ageKey(q.cfg.ID, a.sent, a.pos))
	if b == nil || err != nil {
		return at, err
	}
	r := readRecord(b)
	return min(at, max(a.sent, r.Instant())), r.err()
}
