package queue

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// expiryInterval is the least time between two looks for expired messages.
const expiryInterval = time.Second

// A message expires when it has been in its queue for the retention period, in
// flight or not. The line is in order of age: bisection finds where its old part
// ends, and the part is dropped as a range. A FIFO queue is in order of age too, but
// an old message may be received or not, and in any group. All other messages have a
// key in the table of ages.

// lineCount returns how many messages of the line are stored.
func (q *queue) lineCount() uint64 {
	return uint64(q.line.next-q.line.head) + uint64(q.lineHeld)
}

// indexedCount returns how many indexed messages are stored.
func (q *queue) indexedCount() uint64 { return q.stored - q.lineCount() }

// floor returns an instant before which no message of the queue was sent, or never
// if the queue is empty.
func (q *queue) floor() Instant {
	floor := never
	if q.lineCount() > 0 {
		floor = q.line.floor
	}
	if q.indexedCount() > 0 {
		floor = min(floor, q.index.floor)
	}
	return floor
}

// trimOldest drops removed messages from the front of the list of received messages
// of the line, and from the whole list when most of its messages are removed.
func (q *queue) trimOldest() {
	n := 0
	for n < len(q.oldest) && q.oldest[n].removed {
		q.oldest[n] = nil
		n++
	}
	q.oldest = q.oldest[n:]
	if len(q.oldest) > 2*q.lineHeld+64 {
		q.oldest = slices.DeleteFunc(q.oldest, func(m *received) bool { return m.removed })
	}
}

func (q *queue) setAge(p Position, sent Instant, group string, due Instant) {
	w := newRecord(16 + len(group))
	w.Instant(due)
	w.String(group)
	q.tx.Set(ageKey(q.cfg.ID, sent, p), w.Writer)
}

// expire drops messages that are too old.
func (q *queue) expire() error {
	floor := q.floor()
	if floor == never || floor.Add(q.cfg.Retention) > q.now || q.now < q.nextExpiry {
		return nil
	}
	q.nextExpiry = q.now.Add(expiryInterval)
	// Everything sent at this instant or before is too old.
	limit := q.now.Add(-q.cfg.Retention)
	moreLine, err := q.expireLine(limit)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	moreIndexed, err := q.expireIndexed(limit)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	if moreLine || moreIndexed {
		q.nextExpiry = q.now
	}
	q.markDirty()
	return nil
}

// expireLine drops the messages of the line sent at limit or before, and
// reports whether it left some of them for later.
func (q *queue) expireLine(limit Instant) (more bool, err error) {
	if q.lineCount() == 0 || q.line.floor > limit {
		return false, nil
	}
	for n := 0; ; n++ {
		q.trimOldest()
		if len(q.oldest) == 0 {
			break
		}
		m := q.oldest[0]
		if m.sent == 0 {
			if m.sent, err = q.sentAt(m.pos); err != nil {
				return false, err
			}
		}
		if m.sent > limit || n == workAtOnce || q.Full() {
			q.line.floor = m.sent
			return m.sent <= limit, nil
		}
		q.remove(m)
		q.tally.count(MetricExpired, 1)
		q.work++
	}
	// The messages that were never received follow, in order of age without a gap.
	var failed error
	n := sort.Search(int(q.line.next-q.line.head), func(i int) bool {
		sent, err := q.sentAt(q.line.head + Position(i))
		failed = firstError(failed, err)
		return sent > limit
	})
	if failed != nil {
		return false, failed
	}
	if n > 0 {
		end := q.line.head + Position(n)
		q.tx.DeleteRange(messageKey(q.cfg.ID, q.line.head), messageKey(q.cfg.ID, end))
		q.stored -= uint64(n)
		q.line.head = end
		q.tally.count(MetricExpired, int64(n))
	}
	if q.line.head < q.line.next {
		q.line.floor, err = q.sentAt(q.line.head)
	}
	return false, err
}

// sentAt reads when the message at p was sent.
func (q *queue) sentAt(p Position) (Instant, error) {
	b, err := q.tx.Get(messageKey(q.cfg.ID, p))
	if err != nil {
		return 0, err
	}
	return sentAt(b)
}

// aged is an indexed message that has expired.
type aged struct {
	pos   Position
	sent  Instant
	due   Instant // the end of its delay, if it had one
	group string
}

// expireIndexed drops the indexed messages sent at limit or before, a bounded
// number at a time, and reports whether it left some for later.
func (q *queue) expireIndexed(limit Instant) (more bool, err error) {
	if q.indexedCount() == 0 || q.index.floor > limit {
		return false, nil
	}
	find := q.agedByAge
	if q.cfg.FIFO {
		find = q.agedByPosition
	}
	old, floor, err := find(limit)
	if err != nil {
		return false, err
	}
	if n, all := uint64(len(old)), floor == never; n > q.indexedCount() || all && n < q.indexedCount() {
		return false, fmt.Errorf("ages of %d of %d messages: %w", n, q.indexedCount(), errMissing)
	}
	for _, a := range old {
		if q.Full() {
			floor, q.index.head = a.sent, min(a.pos, q.index.head)
			break
		}
		q.work++
		q.tally.count(MetricExpired, 1)
		if m := q.received[a.pos]; m != nil {
			q.remove(m)
			if m.group != nil {
				if err := q.groups.release(m.group); err != nil {
					return false, err
				}
			}
			continue
		}
		if err := q.dropUnreceived(a); err != nil {
			return false, err
		}
	}
	q.index.floor = min(floor, q.now)
	return floor <= limit, nil
}

// agedByAge returns the first messages of the table of ages that were sent at limit
// or before, and when the message behind them was sent, or never if there is none.
func (q *queue) agedByAge(limit Instant) (old []aged, floor Instant, err error) {
	var bad error
	floor = never
	_, end := tableRange(q.cfg.ID, tableAge)
	err = q.tx.Scan(tableKey(q.cfg.ID, tableAge).instant(q.index.floor), end, func(k, v []byte) bool {
		a := aged{sent: Instant(tail(k, 1)), pos: Position(tail(k, 0))}
		if a.sent > limit || len(old) == workAtOnce {
			floor = a.sent
			return false
		}
		r := readRecord(v)
		a.due, a.group = r.Instant(), r.String()
		bad = r.done("message age")
		old = append(old, a)
		return bad == nil
	})
	return old, floor, firstError(err, bad)
}

// agedByPosition is agedByAge for a FIFO queue, whose messages are in order of age
// themselves. It reads their bodies with them.
func (q *queue) agedByPosition(limit Instant) (old []aged, floor Instant, err error) {
	var bad error
	floor = never
	work := 0
	_, end := tableRange(q.cfg.ID, tableMessage)
	err = q.tx.Scan(messageKey(q.cfg.ID, q.index.head), end, func(k, v []byte) bool {
		a := aged{pos: Position(tail(k, 0))}
		a.sent, a.group, bad = ageOf(v)
		q.index.head = a.pos
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

// dropUnreceived removes an indexed message that waits for its delay to end or
// is a member of its group.
func (q *queue) dropUnreceived(a aged) error {
	at := a.due
	if q.cfg.FIFO {
		at = a.sent
	}
	waits := delayKey(q.cfg.ID, at, a.pos)
	b, err := q.tx.Get(waits)
	if err != nil {
		return err
	}
	if b != nil {
		q.tx.DeleteOnce(waits)
		q.delays.count--
		q.dropIndexed(a.pos, a.sent)
		return nil
	}
	if b, err = q.tx.Get(memberKey(q.cfg.ID, a.group, a.pos)); err != nil {
		return err
	}
	if b == nil {
		return fmt.Errorf("%v in its group: %w", a.pos, errMissing)
	}
	if err := q.groups.drop(a.group, a.pos); err != nil {
		return err
	}
	q.dropIndexed(a.pos, a.sent)
	return nil
}

// dropIndexed removes an indexed message's own keys.
func (q *queue) dropIndexed(p Position, sent Instant) {
	q.tx.DeleteOnce(messageKey(q.cfg.ID, p))
	q.dropAge(p, sent)
	q.stored--
	q.markDirty()
}

// dropAge removes the age of an indexed message, if it has one.
func (q *queue) dropAge(p Position, sent Instant) {
	if !q.cfg.FIFO {
		q.tx.DeleteOnce(ageKey(q.cfg.ID, sent, p))
	}
}
