package queue

import "fmt"

// A delayed message waits in the table of delays, under the instant its delay
// ends; in a FIFO queue under the instant it was sent, because there a change
// of the queue's delay applies to the messages that wait already.

// workAtOnce bounds how many messages one step of housekeeping touches, so that
// requests do not wait for a million delays that end together. Where bodies are
// moved, each KiB counts like a message.
const workAtOnce = 1000

// delayEnd returns when the delay of a key at t in the table of delays ends.
func (q *queue) delayEnd(t Instant) Instant {
	if q.cfg.FIFO {
		return t.Add(q.cfg.Delay)
	}
	return t
}

// postpone makes the message at p wait for the end of its delay.
func (q *queue) postpone(p Position, group string, sent, due Instant) {
	at := due
	if q.cfg.FIFO {
		at = sent
	}
	w := newRecord(16 + len(group))
	w.Instant(sent)
	w.String(group)
	q.tx.Set(delayKey(q.cfg.ID, at, p), w.Writer)
	q.delays.count++
	q.nextDelay = min(q.nextDelay, at)
	q.markDirty()
}

type waiting struct {
	at    Instant
	pos   Position
	sent  Instant
	group string
}

// endDelays makes messages available whose delay has ended.
func (q *queue) endDelays() error {
	if q.delays.count == 0 || q.nextDelay == never || q.delayEnd(q.nextDelay) > q.now || q.Full() {
		return nil
	}
	var due []waiting
	var bad error
	next := never
	_, end := tableRange(q.cfg.ID, tableDelay)
	err := q.tx.Scan(tableKey(q.cfg.ID, tableDelay).instant(q.delays.floor), end, func(k, v []byte) bool {
		w := waiting{at: Instant(tail(k, 1)), pos: Position(tail(k, 0))}
		if q.delayEnd(w.at) > q.now || len(due) == workAtOnce {
			next = w.at
			return false
		}
		r := readRecord(v)
		w.sent, w.group = r.Instant(), r.String()
		bad = r.done("delayed message")
		due = append(due, w)
		return bad == nil
	})
	if err := firstError(err, bad); err != nil {
		return fmt.Errorf("end delays: %w", err)
	}
	if n := uint64(len(due)); n > q.delays.count || next == never && n < q.delays.count {
		return fmt.Errorf("end delays: %d of %d: %w", n, q.delays.count, errMissing)
	}
	for _, w := range due {
		if q.Full() {
			next = w.at
			break
		}
		q.work++
		q.tx.DeleteOnce(delayKey(q.cfg.ID, w.at, w.pos))
		q.delays.count--
		q.delays.floor = w.at
		if err := q.groups.add(w.group, w.pos, w.sent); err != nil {
			return err
		}
	}
	q.nextDelay = next
	q.markDirty()
	return nil
}
