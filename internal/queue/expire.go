package queue

import (
	"fmt"
	"time"
)

// expiryInterval is the least time between two looks for expired messages.
const expiryInterval = time.Second

// A message expires when it has been in its queue for the retention period, even in flight. The line is ordered by age:
// bisection finds the end of its old part, which is dropped as a range. A FIFO queue is ordered by age, too, but its
// old messages can be in any state and any group. All other messages have a row in the table of ages.

// floor returns an instant before which no message of the queue was sent, or never
// if the queue is empty.
func (q *queue) floor() Instant {
	floor := never
	if q.line.count() > 0 {
		floor = q.line.floor
	}
	if q.indexed() > 0 {
		floor = min(floor, q.index.floor)
	}
	return floor
}

// expire drops messages that are too old.
func (q *queue) expire() error {
	floor := q.floor()
	if floor == never || floor.Add(q.cfg.Retention) > q.now || q.now < q.nextExpiry || q.kept.undoes() {
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
	if q.line.count() == 0 || q.line.floor > limit {
		return false, nil
	}
	for n := 0; ; n++ {
		m, err := q.line.firstHeld()
		if err != nil {
			return false, err
		}
		if m == nil {
			break
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
	n, err := q.line.drop(limit)
	if n > 0 {
		q.stored -= uint64(n)
		q.tally.count(MetricExpired, int64(n))
	}
	return false, err
}

// expireIndexed drops the indexed messages sent at limit or before, a bounded
// number at a time, and reports whether it left some for later.
func (q *queue) expireIndexed(limit Instant) (more bool, err error) {
	if q.indexed() == 0 || q.index.floor > limit {
		return false, nil
	}
	old, floor, err := q.index.old(limit)
	if err != nil {
		return false, err
	}
	if n, all := uint64(len(old)), floor == never; n > q.indexed() || all && n < q.indexed() {
		return false, fmt.Errorf("ages of %d of %d messages: %w", n, q.indexed(), errMissing)
	}
	for _, a := range old {
		if q.Full() {
			floor, q.index.head = a.sent, min(a.pos, q.index.head)
			break
		}
		q.work++
		q.tally.count(MetricExpired, 1)
		if m := q.held.at[a.pos]; m != nil {
			if err := q.removeAndRelease(m); err != nil {
				return false, err
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

// dropUnreceived removes an indexed message that waits for its delay to end
// or is a member of its group.
func (q *queue) dropUnreceived(a aged) error {
	waited, err := q.delays.drop(a.pos, a.sent, a.due)
	if err != nil {
		return err
	}
	if !waited {
		b, err := q.tx.Get(memberKey(q.cfg.ID, a.group, a.pos))
		if err != nil {
			return err
		}
		if b == nil {
			return fmt.Errorf("%v in its group: %w", a.pos, errMissing)
		}
		if err := q.groups.drop(a.group, a.pos); err != nil {
			return err
		}
	}
	q.dropIndexed(a.pos, a.sent)
	return nil
}

// dropIndexed removes an indexed message's own keys.
func (q *queue) dropIndexed(p Position, sent Instant) {
	q.tx.DeleteOnce(messageKey(q.cfg.ID, p))
	q.index.dropAge(p, sent)
	q.stored--
	q.markDirty()
}
