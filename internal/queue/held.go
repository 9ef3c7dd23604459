package queue

import (
	"container/list"
	"time"

	"github.com/sluicemq/sluice/internal/tool/heap"
)

// held are the messages of a queue that were received and not deleted, in flight or visible again. Their number is
// limited by the limit of messages in flight: near it, messages that are visible again are received before new ones.
//
//   - Each has a row in the table of received messages, which is written when the message is received or returned, and
//     when its timeout is changed. The end of a timeout writes nothing: the deadline is already stored.
//   - A message is in deadlines exactly while it is in flight. It is in flight until endTimeout returns it, after its
//     deadline.
//   - In a standard queue all others are in returned, in the order in which they became visible. In a FIFO queue they
//     are in their active groups.
type held struct {
	*base
	heldRecord
	at        map[Position]*received
	inFlight  int
	deadlines heap.Heap[*received] // of those in flight
	returned  list.List            // *received
	kept      *kept                // of the queue

	lastReceive Instant // since the engine was loaded; 0: never
}

func newHeld(b *base) held {
	return held{
		base: b, at: make(map[Position]*received),
		deadlines: heap.New((*received).earlier, func(m *received) *int { return &m.place }),
	}
}

// load reads the rows. It calls track with each message and the name of its group, before the message is in flight or
// visible.
func (h *held) load(track func(m *received, group string)) error {
	var bad error
	lo, hi := h.rows.tableRange(h.cfg.ID, tableReceived)
	err := h.tx.Scan(lo, hi, func(k, v []byte) bool {
		m, group, err := decodeReceived(Position(tail(k, 0)), v)
		if bad = err; bad != nil {
			return false
		}
		track(m, group)
		if m.deadline <= h.now {
			h.show(m)
		} else {
			h.hide(m)
		}
		return true
	})
	return firstError(err, bad)
}

// full reports whether no more messages may be in flight.
func (h *held) full() bool { return h.inFlight >= h.cfg.maxInFlight() }

// taken returns how many messages are held, including those that an undo of a purge must still restore.
func (h *held) taken() int { return len(h.at) + h.kept.arriving() }

// wakeAt returns when the first timeout ends, or never.
func (h *held) wakeAt() Instant {
	if h.deadlines.Len() == 0 {
		return never
	}
	return h.deadlines.First().deadline
}

// save writes m's row.
func (h *held) save(m *received) {
	h.scratch = m.encode(h.scratch)
	h.tx.Set(h.rowKey(m), h.scratch)
	m.written++
	h.touch()
}

// deliver delivers m to a consumer, and makes it invisible for timeout.
func (h *held) deliver(m *received, timeout time.Duration) Delivery {
	h.lastReceive = h.now
	h.receipts++
	h.markDirty()
	m.receipt = h.receipts
	m.receives++
	m.last = h.now
	if m.first == 0 {
		m.first = h.now
	}
	h.restart(m, timeout)
	return m.delivery()
}

// restart makes m invisible for timeout from now, and writes its row.
func (h *held) restart(m *received, timeout time.Duration) {
	h.startTimeout(m, timeout)
	h.save(m)
}

// keep makes m invisible for timeout without a delivery.
func (h *held) keep(m *received, timeout time.Duration) {
	m.receipt = 0
	h.restart(m, timeout)
}

// takeBack undoes the newest delivery of m, and makes m visible.
func (h *held) takeBack(m *received) {
	if m.receives--; m.receives == 0 {
		m.first = 0
	}
	h.keep(m, 0)
}

// delivered returns the message of a delivery, or nil if the message has changed since.
func (h *held) delivered(d Delivery) *received {
	if m := h.at[d.Position]; m != nil && m.receipt == d.Receipt && m.deadline == d.Until {
		return m
	}
	return nil
}

// startTimeout makes m invisible for timeout from now. A timeout of 0 makes it visible.
func (h *held) startTimeout(m *received, timeout time.Duration) {
	m.deadline = h.now.Add(timeout)
	switch {
	case m.deadline <= h.now:
		h.show(m)
	case m.inFlight:
		h.deadlines.Set(m)
	default:
		h.hide(m)
		h.unlist(m)
	}
}

// hide makes m invisible until its deadline.
func (h *held) hide(m *received) {
	m.inFlight = true
	h.inFlight++
	h.deadlines.Set(m)
}

// show makes m visible.
func (h *held) show(m *received) {
	h.land(m)
	if m.group == nil && m.elem == nil {
		m.elem = h.returned.PushBack(m)
	}
}

// land removes m from the messages in flight, if it is one.
func (h *held) land(m *received) {
	if m.inFlight {
		m.inFlight = false
		h.inFlight--
		h.deadlines.Remove(m)
	}
}

// unlist removes m from returned, if it is there.
func (h *held) unlist(m *received) {
	if m.elem != nil {
		h.returned.Remove(m.elem)
		m.elem = nil
	}
}

// endTimeout makes one message whose timeout has ended visible, and returns it. It returns nil if there is none.
func (h *held) endTimeout() *received {
	if h.deadlines.Len() == 0 || h.deadlines.First().deadline > h.now {
		return nil
	}
	m := h.deadlines.First()
	h.show(m)
	return m
}

// remove forgets m, and removes its row.
func (h *held) remove(m *received) {
	h.land(m)
	h.unlist(m)
	m.removed = true
	delete(h.at, m.pos)
	if m.written == 1 {
		h.tx.DeleteOnce(h.rowKey(m))
	} else {
		h.tx.Delete(h.rowKey(m))
	}
}

// rowKey returns the key of m's row for one call of tx.
func (h *held) rowKey(m *received) key {
	return h.key(h.cfg.ID, h.rows.table(tableReceived)).position(m.pos)
}

// noisyGroups returns how many messages each noisy group of a standard queue has in flight.
func (h *held) noisyGroups() map[string]uint64 {
	if h.inFlight < noisyAtLeast {
		return nil
	}
	noisy := make(map[string]uint64)
	for _, m := range h.at {
		if m.inFlight && m.tenant != "" {
			noisy[m.tenant]++
		}
	}
	for name, n := range noisy {
		if n < noisyAtLeast || n*10 <= uint64(h.inFlight) {
			delete(noisy, name)
		}
	}
	return noisy
}

// countQuiet counts the returned messages of quiet groups.
func (h *held) countQuiet(noisy map[string]uint64) (n uint64) {
	for e := h.returned.Front(); e != nil; e = e.Next() {
		if _, out := noisy[e.Value.(*received).tenant]; !out {
			n++
		}
	}
	return n
}

// purge forgets all messages. Their receipt numbers are never reused.
func (h *held) purge() {
	h.at = make(map[Position]*received)
	h.deadlines.Clear()
	h.returned.Init()
	h.inFlight = 0
}
