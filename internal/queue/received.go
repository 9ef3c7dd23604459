package queue

import (
	"container/list"
	"time"
)

// received is a message that was received and not deleted.
type received struct {
	pos      Position
	receives uint64
	first    Instant // of the receives
	last     Instant
	deadline Instant      // invisible until then
	receipt  uint64       // number of the newest receive
	sent     Instant      // zero for a message of the line whose record was not read yet
	group    *activeGroup // FIFO only
	tenant   string       // the message's group, in a standard queue

	written  int // how often its record was written
	inFlight bool
	removed  bool
	place    int           // in queue.deadlines
	elem     *list.Element // in queue.returned
}

func (m *received) encode() []byte {
	w := newRecord(64)
	w.Uint(m.receives)
	w.Instant(m.first)
	w.Instant(m.last)
	w.Instant(m.deadline)
	w.Uint(m.receipt)
	w.Instant(m.sent)
	w.String(m.groupName())
	return w.Writer
}

// groupName returns the message group, or "" if the message has none. Older programs did
// not store it in standard queues.
func (m *received) groupName() string {
	if m.group != nil {
		return m.group.name
	}
	return m.tenant
}

// unknownTimes is in place of how often a record was written that was loaded: it only
// matters whether it was once.
const unknownTimes = 2

func decodeReceived(p Position, b []byte) (m *received, group string, err error) {
	r := readRecord(b)
	m = &received{pos: p, written: unknownTimes}
	m.receives = r.Uint()
	m.first = r.Instant()
	m.last = r.Instant()
	m.deadline = r.Instant()
	m.receipt = r.Uint()
	m.sent = r.Instant()
	group = r.String()
	return m, group, r.done("received message")
}

// trackReceived adds m, not in flight, to the queue's received messages. Messages of
// the line, and those of each group, must be added in ascending order of position.
func (q *queue) trackReceived(m *received) {
	q.received[m.pos] = m
	if !m.pos.indexed() {
		q.trimOldest()
		q.oldest = append(q.oldest, m)
		q.lineHeld++
	}
	if m.group != nil {
		m.group.held = append(m.group.held, m)
	}
}

// save writes m's record.
func (q *queue) save(m *received) {
	q.tx.Set(receivedKey(q.cfg.ID, m.pos), m.encode())
	m.written++
	q.touch()
}

// deliver delivers m to a consumer, and makes it invisible for timeout.
func (q *queue) deliver(m *received, timeout time.Duration) Delivery {
	now := q.now
	q.lastReceive = now
	q.held.receipts++
	q.markDirty()
	m.receipt = q.held.receipts
	m.receives++
	m.last = now
	if m.first == 0 {
		m.first = now
	}
	q.startTimeout(m, timeout)
	q.save(m)
	return m.delivery()
}

// delivery returns the newest delivery of m.
func (m *received) delivery() Delivery {
	return Delivery{Position: m.pos, Receipt: m.receipt, Receives: m.receives, First: m.first, Until: m.deadline}
}

// startTimeout makes m invisible for timeout from now, which may be 0.
func (q *queue) startTimeout(m *received, timeout time.Duration) {
	m.deadline = q.now.Add(timeout)
	switch {
	case m.deadline <= q.now:
		q.makeVisible(m)
	case m.inFlight:
		q.deadlines.Set(m)
	default:
		m.inFlight = true
		q.inFlight++
		q.deadlines.Set(m)
		if m.elem != nil {
			q.returned.Remove(m.elem)
			m.elem = nil
		}
	}
}

// makeVisible makes m visible.
func (q *queue) makeVisible(m *received) {
	if m.inFlight {
		m.inFlight = false
		q.inFlight--
		q.deadlines.Remove(m)
	}
	if m.group == nil && m.elem == nil {
		m.elem = q.returned.PushBack(m)
	}
}

// endTimeouts makes messages visible whose timeout has ended. Nothing is written: it
// follows from the deadlines.
func (q *queue) endTimeouts() {
	for q.deadlines.Len() > 0 && q.deadlines.First().deadline <= q.now {
		m := q.deadlines.First()
		q.makeVisible(m)
		if m.group != nil {
			q.groups.updateReady(m.group)
		}
	}
}

// remove removes m from the queue and from the store. The caller calls releaseGroup
// for its group.
func (q *queue) remove(m *received) {
	if m.inFlight {
		m.inFlight = false
		q.inFlight--
		q.deadlines.Remove(m)
	}
	if m.elem != nil {
		q.returned.Remove(m.elem)
		m.elem = nil
	}
	if m.group != nil {
		m.group.remove(m)
	}
	m.removed = true
	delete(q.received, m.pos)
	if m.written == 1 {
		q.tx.DeleteOnce(receivedKey(q.cfg.ID, m.pos))
	} else {
		q.tx.Delete(receivedKey(q.cfg.ID, m.pos))
	}
	q.tx.DeleteOnce(messageKey(q.cfg.ID, m.pos))
	if m.pos.indexed() {
		q.dropAge(m.pos, m.sent)
	} else {
		q.lineHeld--
	}
	q.stored--
	q.markDirty()
}

// earlier orders messages in flight by the end of their timeout.
func (m *received) earlier(n *received) bool {
	return m.deadline < n.deadline || m.deadline == n.deadline && m.receipt < n.receipt
}
