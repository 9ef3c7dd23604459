package queue

import (
	"fmt"
	"time"
)

// expiryInterval is the minimum time between two searches for expired messages.
const expiryInterval = time.Second

// A message expires when it has been in its queue for the retention period, even if it is in flight. The line is
// ordered by age: bisection finds the end of its expired part, which is dropped as a range. A FIFO queue is ordered by
// age, too, but its old messages can be in any state and any group. All other messages have a row in the table of ages.

// floor returns an instant before which no message of the queue was sent, or never
// if the queue is empty.
func (ms *messages) floor() Instant {
	floor := never
	if ms.line.count() > 0 {
		floor = ms.line.floor
	}
	if ms.indexed() > 0 {
		floor = min(floor, ms.index.floor)
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
	// Messages sent at this instant or before are too old.
	limit := q.now.Add(-q.cfg.Retention)
	n, more, err := q.dropOld(limit)
	if err != nil {
		return fmt.Errorf("expire: %w", err)
	}
	if n > 0 {
		q.tally.count(MetricExpired, int64(n))
	}
	if more {
		q.nextExpiry = q.now
	}
	q.markDirty()
	return nil
}

// dropOld drops the messages sent at limit or before, a bounded number at a time. It returns their number, and whether
// it left some for later.
func (ms *messages) dropOld(limit Instant) (n int, more bool, err error) {
	fromLine, moreLine, err := ms.expireLine(limit)
	if err != nil {
		return 0, false, err
	}
	indexed, moreIndexed, err := ms.expireIndexed(limit)
	return fromLine + indexed, moreLine || moreIndexed, err
}

// expireLine is dropOld for the messages of the line.
func (ms *messages) expireLine(limit Instant) (n int, more bool, err error) {
	if ms.line.count() == 0 || ms.line.floor > limit {
		return 0, false, nil
	}
	for ; ; n++ {
		m, err := ms.line.firstHeld()
		if err != nil {
			return n, false, err
		}
		if m == nil {
			break
		}
		if m.sent > limit || n == workAtOnce || ms.Full() {
			ms.line.floor = m.sent
			return n, m.sent <= limit, nil
		}
		ms.remove(m)
		ms.work++
	}
	// The messages that were never received follow, in order of age without a gap.
	waiting, err := ms.line.drop(limit)
	ms.stored -= uint64(waiting)
	return n + waiting, false, err
}

// expireIndexed is dropOld for the indexed messages.
func (ms *messages) expireIndexed(limit Instant) (n int, more bool, err error) {
	if ms.indexed() == 0 || ms.index.floor > limit {
		return 0, false, nil
	}
	old, floor, err := ms.index.old(limit)
	if err != nil {
		return 0, false, err
	}
	if n, all := uint64(len(old)), floor == never; n > ms.indexed() || all && n < ms.indexed() {
		return 0, false, fmt.Errorf("ages of %d of %d messages: %w", n, ms.indexed(), errMissing)
	}
	for _, a := range old {
		if ms.Full() {
			floor, ms.index.head = a.sent, min(a.pos, ms.index.head)
			break
		}
		ms.work++
		n++
		if m := ms.held.at[a.pos]; m != nil {
			if err := ms.removeAndRelease(m); err != nil {
				return n, false, err
			}
			continue
		}
		if err := ms.dropUnreceived(a); err != nil {
			return n, false, err
		}
	}
	ms.index.floor = min(floor, ms.now)
	return n, floor <= limit, nil
}

// dropUnreceived removes an indexed message that waits for its delay to end
// or is a member of its group.
func (ms *messages) dropUnreceived(a aged) error {
	waited, err := ms.delays.drop(a.pos, a.sent, a.due)
	if err != nil {
		return err
	}
	if !waited {
		b, err := ms.tx.Get(memberKey(ms.cfg.ID, a.group, a.pos))
		if err != nil {
			return err
		}
		if b == nil {
			return fmt.Errorf("%v in its group: %w", a.pos, errMissing)
		}
		if err := ms.groups.drop(a.group, a.pos); err != nil {
			return err
		}
	}
	ms.dropIndexed(a.pos, a.sent)
	return nil
}

// dropIndexed removes an indexed message's own keys.
func (ms *messages) dropIndexed(p Position, sent Instant) {
	ms.tx.DeleteOnce(messageKey(ms.cfg.ID, p))
	ms.index.dropAge(p, sent)
	ms.stored--
	ms.markDirty()
}
