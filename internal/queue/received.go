package queue

import (
	"cmp"
	"container/list"
	"slices"
)

// received is a message that was received and not deleted.
type received struct {
	pos      Position
	receives uint64
	first    Instant // of the receives
	last     Instant
	deadline Instant      // invisible until then
	receipt  uint64       // number of the newest receive
	sent     Instant      // zero for a message of the line until its record is read
	group    *activeGroup // FIFO only
	tenant   string       // the message's group, in a standard queue

	written  int // number of writes of its record
	inFlight bool
	removed  bool
	place    int           // in held.deadlines
	elem     *list.Element // in held.returned
}

// encode returns the row of m, in buf if it has room.
func (m *received) encode(buf []byte) []byte {
	w := beginRecord(buf)
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

// unknownTimes stands for the number of writes of a loaded record. It only matters whether a record was written exactly
// once.
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

// insertReceived inserts m into a list in order of position. Nearly always it is the last.
func insertReceived(list []*received, m *received) []*received {
	if n := len(list); n == 0 || list[n-1].pos < m.pos {
		return append(list, m)
	}
	i, _ := slices.BinarySearchFunc(list, m.pos, func(x *received, p Position) int { return cmp.Compare(x.pos, p) })
	return slices.Insert(list, i, m)
}

// delivery returns the newest delivery of m.
func (m *received) delivery() Delivery {
	return Delivery{Position: m.pos, Receipt: m.receipt, Receives: m.receives, First: m.first, Until: m.deadline}
}

// heldBy reports whether m is in flight under receipt r.
func (m *received) heldBy(r Receipt) bool { return m.inFlight && m.receipt == r.Number }

// ignored reports whether a message does not count for the age of the oldest message.
func (m *received) ignored() bool { return m != nil && m.receives >= 3 }

// earlier orders messages in flight by the end of their timeout.
func (m *received) earlier(n *received) bool {
	return m.deadline < n.deadline || m.deadline == n.deadline && m.receipt < n.receipt
}
