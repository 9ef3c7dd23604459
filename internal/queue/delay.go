package queue

import "fmt"

// delays are the messages of a queue that wait for their delay to end. Each has a row in the table of delays, under the
// instant at which its delay ends. In a FIFO queue the row is under the time of sending, because a change of the
// queue's delay applies to messages that already wait.
//
//   - count is the number of rows, and none is before floor.
//   - No row is before next. It is never if there are no rows.
type delays struct {
	*base
	delaysRecord
	next Instant
}

// workAtOnce limits the messages that one step of housekeeping touches, so that requests do not wait for a million
// delays that end together. Where bodies are moved, each KiB counts as a message.
const workAtOnce = 1000

// load finds the first row, and sets next.
func (d *delays) load() error {
	if d.count == 0 {
		return nil
	}
	_, hi := d.rows.tableRange(d.cfg.ID, tableDelay)
	err := d.tx.Scan(d.rows.delayKey(d.cfg.ID, d.floor, 0), hi, func(k, _ []byte) bool {
		d.next = Instant(tail(k, 1))
		return false
	})
	if err == nil && d.next == never {
		err = fmt.Errorf("delayed messages: %w", errMissing)
	}
	return err
}

// endOf returns when the delay of a row at t ends.
func (d *delays) endOf(t Instant) Instant {
	if d.cfg.FIFO {
		return t.Add(d.cfg.Delay)
	}
	return t
}

// rowAt returns the instant under which a message has its row.
func (d *delays) rowAt(sent, due Instant) Instant {
	if d.cfg.FIFO {
		return sent
	}
	return due
}

// wakeAt returns when the first delay ends, or never.
func (d *delays) wakeAt() Instant {
	if d.count == 0 || d.next == never {
		return never
	}
	return d.endOf(d.next)
}

// postpone makes the message at p wait for the end of its delay.
func (d *delays) postpone(p Position, group string, sent, due Instant) {
	at := d.rowAt(sent, due)
	d.tx.Set(d.rows.delayKey(d.cfg.ID, at, p), encodeTimed(sent, group))
	d.count++
	d.next = min(d.next, at)
	d.markDirty()
}

// drop removes the row of a message, and reports whether there was one.
func (d *delays) drop(p Position, sent, due Instant) (bool, error) {
	k := d.rows.delayKey(d.cfg.ID, d.rowAt(sent, due), p)
	b, err := d.tx.Get(k)
	if b == nil || err != nil {
		return false, err
	}
	d.tx.DeleteOnce(k)
	d.count--
	return true, nil
}

// decodeDelayed reads the row of a message: when it was sent, and its group.
func decodeDelayed(row []byte) (sent Instant, group string, err error) {
	return decodeTimed(row, "delayed message")
}

// waiting is a message that waits.
type waiting struct {
	at    Instant
	pos   Position
	sent  Instant
	group string
}

// end removes the rows whose delay has ended, a bounded number at a time, and passes their messages to available.
func (d *delays) end(available func(group string, p Position, sent Instant) error) error {
	if d.count == 0 || d.next == never || d.endOf(d.next) > d.now || d.Full() {
		return nil
	}
	due, next, err := d.due()
	if err != nil {
		return fmt.Errorf("end delays: %w", err)
	}
	if n := uint64(len(due)); n > d.count || next == never && n < d.count {
		return fmt.Errorf("end delays: %d of %d: %w", n, d.count, errMissing)
	}
	for _, w := range due {
		if d.Full() {
			next = w.at
			break
		}
		d.work++
		d.tx.DeleteOnce(d.rows.delayKey(d.cfg.ID, w.at, w.pos))
		d.count--
		d.floor = w.at
		if err := available(w.group, w.pos, w.sent); err != nil {
			return err
		}
	}
	d.next = next
	d.markDirty()
	return nil
}

// due returns the first messages whose delay has ended, and the instant of the next row, or never if there is no next
// row.
func (d *delays) due() (due []waiting, next Instant, err error) {
	var bad error
	next = never
	_, end := d.rows.tableRange(d.cfg.ID, tableDelay)
	err = d.tx.Scan(d.rows.delayKey(d.cfg.ID, d.floor, 0), end, func(k, v []byte) bool {
		w := waiting{at: Instant(tail(k, 1)), pos: Position(tail(k, 0))}
		if d.endOf(w.at) > d.now || len(due) == workAtOnce {
			next = w.at
			return false
		}
		w.sent, w.group, bad = decodeDelayed(v)
		due = append(due, w)
		return bad == nil
	})
	return due, next, firstError(err, bad)
}

// countQuiet counts the messages of quiet groups, up to membersAtMost.
func (d *delays) countQuiet(noisy map[string]uint64) (n uint64, err error) {
	if d.count == 0 {
		return 0, nil
	}
	var bad error
	looked := 0
	_, end := d.rows.tableRange(d.cfg.ID, tableDelay)
	err = d.tx.Scan(d.rows.delayKey(d.cfg.ID, d.floor, 0), end, func(_, v []byte) bool {
		var group string
		_, group, bad = decodeDelayed(v)
		if _, out := noisy[group]; !out {
			n++
		}
		looked++
		return bad == nil && looked < membersAtMost
	})
	return n, firstError(err, bad)
}

// purge forgets all messages.
func (d *delays) purge() { d.count, d.next = 0, never }
