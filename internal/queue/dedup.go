package queue

import (
	"fmt"
	"time"
)

// Deduplication ids and receive attempts are kept in buckets as long as the
// interval itself: what is younger than the interval is in the current bucket
// or the one before it, and older buckets are dropped whole.
//
// Nearly every id is new, and to learn that from the store means a look at all
// of its parts. So each bucket that was begun since the engine was loaded has a
// filter in memory which knows most of what is not in it.

const (
	kindDedup   = 'd'
	kindAttempt = 'a'
)

func bucketOf(t Instant) uint64      { return uint64(t) / uint64(DedupInterval.Milliseconds()) }
func bucketStart(n uint64) Instant   { return Instant(n * uint64(DedupInterval.Milliseconds())) }
func within(t, now Instant) bool     { return now < t.Add(DedupInterval) }
func (q *queue) bucket(n uint64) key { return tableKey(q.cfg.ID, tableDedup).uint64(n) }

// recall finds the newest value kept under kind and id, at most an interval
// old. Values begin with their instant.
func (q *queue) recall(kind byte, id string) (*reader, error) {
	current, hash := bucketOf(q.e.now), hashOf(kind, id)
	for _, n := range [...]uint64{current, current - 1} {
		if n < q.dedupLow || n > q.dedupHigh {
			continue
		}
		if f := q.filters[n]; f != nil && !f.has(hash) {
			continue
		}
		b, err := q.e.tx.Get(q.bucket(n).byte(kind).string(id))
		if err != nil {
			return nil, err
		}
		if b == nil {
			continue
		}
		r := readRecord(b)
		if t := r.instant(); r.err == nil && !within(t, q.e.now) {
			return nil, nil
		}
		return r, nil
	}
	return nil, nil
}

// keep stores a value under kind and id for an interval.
func (q *queue) keep(kind byte, id string, value func(*writer)) {
	n := bucketOf(q.e.now)
	w := newRecord(48)
	w.instant(q.e.now)
	value(&w)
	q.e.tx.Set(q.bucket(n).byte(kind).string(id), w)
	if n > q.dedupHigh {
		q.filters[n] = new(filter)
	}
	if f := q.filters[n]; f != nil {
		f.add(hashOf(kind, id))
	}
	if q.dedupHigh == 0 {
		q.dedupLow = n
	}
	q.dedupHigh = n
	q.change()
}

// dropOldBuckets removes the buckets that hold nothing young enough.
func (q *queue) dropOldBuckets() {
	current := bucketOf(q.e.now)
	if q.dedupHigh == 0 || current < q.dedupLow+2 {
		return
	}
	q.e.tx.DeleteRange(q.bucket(q.dedupLow), q.bucket(current-1))
	for n := range q.filters {
		if n < current-1 {
			delete(q.filters, n)
		}
	}
	q.dedupLow = current - 1
	if q.dedupHigh < q.dedupLow {
		q.dedupLow, q.dedupHigh = 0, 0
	}
	q.change()
}

// dedupScope is what must be equal for two messages to be duplicates.
func (q *queue) dedupScope(o *Outgoing) string {
	if q.cfg.DedupPerGroup {
		return o.Group + "\x00" + o.Dedup
	}
	return o.Dedup
}

// duplicateOf returns the answer to the earlier message that o repeats.
func (q *queue) duplicateOf(o *Outgoing) (Sent, bool, error) {
	r, err := q.recall(kindDedup, q.dedupScope(o))
	if r == nil || err != nil {
		return Sent{}, false, err
	}
	s := Sent{Sequence: r.uint(), Duplicate: true}
	copy(s.ID[:], r.raw(uint64(len(s.ID))))
	return s, true, r.done("deduplication id")
}

func (q *queue) remember(o *Outgoing, s Sent) {
	q.keep(kindDedup, q.dedupScope(o), func(w *writer) {
		w.uint(s.Sequence)
		w.raw(s.ID[:])
	})
}

// rememberAttempt notes what a receive attempt was given.
func (q *queue) rememberAttempt(attempt string, given []Delivery) {
	q.keep(kindAttempt, attempt, func(w *writer) {
		w.uint(uint64(len(given)))
		for _, d := range given {
			w.uint(uint64(d.Position))
			w.uint(d.Receipt)
			w.instant(q.received[d.Position].deadline)
		}
	})
}

func (q *queue) forgetAttempt(attempt string) {
	n := bucketOf(q.e.now)
	q.e.tx.Delete(q.bucket(n).byte(kindAttempt).string(attempt))
	q.e.tx.Delete(q.bucket(n - 1).byte(kindAttempt).string(attempt))
	q.change()
}

// repeat answers a receive attempt that was answered before: the same messages
// and receipts, their visibility timeout started anew.
func (q *queue) repeat(attempt string, timeout time.Duration) ([]Delivery, bool, error) {
	r, err := q.recall(kindAttempt, attempt)
	if r == nil || err != nil {
		return nil, false, err
	}
	n := r.uint()
	var given []*received
	for range n {
		p, receipt, deadline := Position(r.uint()), r.uint(), r.instant()
		if r.err != nil {
			break
		}
		m := q.received[p]
		if m == nil || !m.heldBy(Receipt{p, receipt}) || m.deadline != deadline {
			return nil, true, ErrAttemptStale
		}
		given = append(given, m)
	}
	if err := r.done("receive attempt"); err != nil {
		return nil, false, fmt.Errorf("repeat: %w", err)
	}
	out := make([]Delivery, 0, len(given))
	for _, m := range given {
		q.hide(m, timeout)
		q.save(m)
		out = append(out, m.delivery())
	}
	for _, m := range given {
		q.relist(m.group)
	}
	q.rememberAttempt(attempt, out)
	return out, true, nil
}
