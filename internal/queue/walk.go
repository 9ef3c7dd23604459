package queue

import (
	"bytes"
	"fmt"
	"slices"
)

// phase is a part of a queue's data: rows of one table, in its order. It is written into cursors: numbers are never
// reused.
type phase uint8

const (
	phaseHeld     phase = iota // messages of the line that were received
	phaseLine                  // messages of the line that were never received
	phaseIndexed               // all others; all messages of a FIFO queue, in order
	phaseReceived              // messages that were received, of the line or not
	phaseDelayed               // messages that wait for their delay to end
	phaseEnd
)

// place is the progress of a walk: behind a row of a phase. Position 0 is the beginning of the phase.
type place struct {
	phase    phase
	due      Instant // of the row in phaseDelayed
	position Position
}

// walk reads the stored rows of a queue phase by phase, and passes each row to look. Peeks, lists of groups, and the
// searches of move tasks are walks: they need no engine.
//
//   - The content of r must not change during a walk. Between two walks it may change: a message that is received or
//     returned meanwhile is missed or seen twice, unless the order of the phases prevents it.
//   - at is behind the last row that look has accepted without an error, so the next walk continues there.
//   - The walk stops when full reports true or proceed returns false. stopped then is true.
type walk struct {
	Look
	r                   Reader
	phases              []phase  // in order
	lineEnd, indexedEnd Position // messages from there on are left out; 0: no limit

	full    func() bool
	look    func(at place, row []byte) (bytes int, err error)
	proceed func(bytes int) bool
	ended   func(phase) (stop bool) // called at the end of each phase

	meta    meta
	at      place
	stopped bool
	ahead   heldAhead
	item    itemReader
}

// open reads the queue's record, and reports whether there is one. Without it, nothing was ever written to the queue.
func (w *walk) open() (written bool, err error) {
	b, err := w.r.Get(metaKey(w.queue))
	if b == nil || err != nil {
		return false, err
	}
	return true, w.meta.decode(b)
}

// run continues at at, which is in one of the phases or behind them.
func (w *walk) run() error {
	for i := slices.Index(w.phases, w.at.phase); 0 <= i && i < len(w.phases) && !w.stopped; i++ {
		if err := w.through(); err != nil || w.stopped {
			return err
		}
		w.at = place{phase: phaseEnd}
		if i+1 < len(w.phases) {
			w.at.phase = w.phases[i+1]
		}
		w.stopped = w.ended != nil && w.ended(w.phases[i])
	}
	return nil
}

// through walks through the rest of a phase.
func (w *walk) through() error {
	lo, hi := w.rows()
	if bytes.Compare(lo, hi) >= 0 {
		return nil
	}
	if w.at.phase == phaseIndexed {
		w.ahead = heldAhead{r: w.r, queue: w.queue, rows: w.meta.rows, next: Position(tail(lo, 0))}
	}
	var bad error
	err := w.r.Scan(lo, hi, func(k, row []byte) bool {
		at := place{phase: w.at.phase, position: Position(tail(k, 0))}
		if at.phase == phaseDelayed {
			at.due = Instant(tail(k, 1))
		}
		bad = w.step(at, row)
		return bad == nil && !w.stopped
	})
	return firstError(err, bad)
}

// rows returns the range of keys of the rest of a phase.
func (w *walk) rows() (lo, hi key) {
	q, rows, next := w.queue, w.meta.rows, w.at.position+1
	_, end := tableRange(q, tableMessage)
	switch w.at.phase {
	case phaseHeld:
		return rows.receivedKey(q, next), rows.receivedKey(q, upTo(w.lineEnd, indexedBit))
	case phaseLine:
		return messageKey(q, max(next, w.meta.line.head)), messageKey(q, upTo(w.lineEnd, w.meta.line.next))
	case phaseIndexed:
		if w.indexedEnd != 0 {
			end = messageKey(q, w.indexedEnd)
		}
		return messageKey(q, max(next, w.meta.index.head, indexedBit)), end
	case phaseReceived:
		return rows.receivedKey(q, next), rows.receivedKey(q, ^Position(0))
	case phaseDelayed:
		if w.meta.delays.count == 0 {
			return nil, nil
		}
		due := w.at.due
		if due < w.meta.delays.floor {
			due, next = w.meta.delays.floor, 0
		}
		_, end := rows.tableRange(q, tableDelay)
		return rows.delayKey(q, due, next), end
	}
	return nil, nil
}

// upTo returns the end of a phase, which may be limited.
func upTo(limit, end Position) Position {
	if limit == 0 {
		return end
	}
	return min(limit, end)
}

// step reads one row.
func (w *walk) step(at place, row []byte) error {
	if w.full != nil && w.full() {
		w.stopped = true
		return nil
	}
	if at.phase == phaseIndexed && w.meta.kept.hides(at.position) {
		if m, err := w.ahead.find(at.position); m == nil || err != nil {
			w.at, w.stopped = at, !w.proceed(len(row))
			return err // an undo has not brought it back yet
		}
	}
	n, err := w.look(at, row)
	if err != nil {
		return err
	}
	w.at = at
	w.stopped = !w.proceed(n)
	return nil
}

// received returns the state of a row's message if it was received, or else nil.
func (w *walk) received(at place, row []byte) (m *received, err error) {
	switch at.phase {
	case phaseHeld, phaseReceived:
		m, _, err = decodeReceived(at.position, row)
	case phaseIndexed:
		m, err = w.ahead.find(at.position)
	}
	return m, err
}

// record returns the record of the message of a row.
func (w *walk) record(at place, row []byte) ([]byte, error) {
	if at.phase == phaseLine || at.phase == phaseIndexed {
		return row, nil
	}
	record, err := w.r.Get(messageKey(w.queue, at.position))
	if err == nil && record == nil {
		err = fmt.Errorf("message %v: %w", at.position, errMissing)
	}
	return record, err
}

// stateOf returns the state of a message that was received.
func (w *walk) stateOf(m *received) States {
	if m.deadline > w.now {
		return StateInFlight
	}
	return StateVisible
}

// dueOf returns when the delay of an indexed message ends that was never received, or an instant in the past.
func (w *walk) dueOf(p Position, record []byte) (Instant, error) {
	if w.meta.delays.count == 0 {
		return 0, nil
	}
	sent, err := sentAt(record)
	if err != nil {
		return 0, err
	}
	if w.fifo {
		if sent+w.delay <= w.now {
			return 0, nil
		}
		b, err := w.r.Get(w.meta.rows.delayKey(w.queue, sent, p))
		if b == nil {
			return 0, err
		}
		return sent + w.delay, err
	}
	b, err := w.r.Get(w.meta.rows.ageKey(w.queue, sent, p))
	if err != nil || b == nil {
		return 0, firstError(err, errMissing)
	}
	due, _, err := decodeAge(b)
	return due, err
}

// heldAhead reads the rows of received messages in order of position, several at a time.
type heldAhead struct {
	r     Reader
	queue ID
	rows  edition
	next  Position // where to read on
	ahead []*received
	all   bool
}

const heldAtOnce = 256

// find returns the received message at p, or nil if it was not received. Calls must have ascending positions.
func (h *heldAhead) find(p Position) (*received, error) {
	for {
		for len(h.ahead) > 0 && h.ahead[0].pos < p {
			h.ahead = h.ahead[1:]
		}
		switch {
		case len(h.ahead) > 0 && h.ahead[0].pos == p:
			return h.ahead[0], nil
		case len(h.ahead) > 0 || h.all:
			return nil, nil
		}
		if err := h.read(max(h.next, p)); err != nil {
			return nil, err
		}
	}
}

func (h *heldAhead) read(from Position) error {
	var bad error
	h.ahead = make([]*received, 0, heldAtOnce)
	_, end := h.rows.tableRange(h.queue, tableReceived)
	err := h.r.Scan(h.rows.receivedKey(h.queue, from), end, func(k, v []byte) bool {
		var m *received
		m, _, bad = decodeReceived(Position(tail(k, 0)), v)
		if bad != nil {
			return false
		}
		h.ahead = append(h.ahead, m)
		h.next = m.pos + 1
		return len(h.ahead) < heldAtOnce
	})
	h.all = len(h.ahead) < heldAtOnce
	return firstError(err, bad)
}
