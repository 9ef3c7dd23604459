package queue

import (
	"fmt"
	"iter"
	"time"
)

// Deduplication ids and receive attempts of all queues are stored together, in
// slots of a few seconds, and the store keeps them in tables of their own. In the
// order of the ids, or among the messages, each compaction would write anew what
// was kept in the last ten minutes; so it leaves the tables with old ids alone.
//
// Nearly every id is new. The store would learn that by a look into each slot, so
// filters in memory know most of what is not there. A filter is for a bucket of
// slots, as long as the interval: what is younger than the interval is in the
// current bucket or the one before it, and older buckets are dropped whole.

const (
	kindDedup   = 'd'
	kindAttempt = 'a'

	slotLength     = 2 * time.Second
	slotsPerBucket = uint64(DedupInterval / slotLength)
)

func slotOf(t Instant) uint64             { return uint64(t) / uint64(slotLength.Milliseconds()) }
func bucketOf(t Instant) uint64           { return slotOf(t) / slotsPerBucket }
func bucketStart(n uint64) Instant        { return Instant(n * uint64(DedupInterval.Milliseconds())) }
func bucketKey(n uint64) key              { return slotKey(n * slotsPerBucket) }
func inDedupInterval(t, now Instant) bool { return now < t.Add(DedupInterval) }

// horizon is how far back something may have been kept that still counts.
func (e *Engine) horizon() Instant { return max(0, e.now.Add(-DedupInterval)) }

// loadFilters makes the filters of all queues for what is stored, and removes what
// has become too old.
func (e *Engine) loadFilters() error {
	oldest := bucketOf(e.horizon())
	lo, end := tableRange(shared, tableDedup)
	err := e.tx.Scan(lo, bucketKey(oldest), func(_, _ []byte) bool { e.dropDedupBefore(oldest); return false })
	if err != nil {
		return err
	}
	var bad error
	err = e.tx.Scan(bucketKey(oldest), end, func(k, _ []byte) bool {
		slot, id, kind, name, ok := splitDedupKey(k)
		if !ok {
			bad = fmt.Errorf("%w: stray key %q", ErrDamaged, k)
			return false
		}
		if q := e.queues[id]; q != nil {
			q.filter(slot / slotsPerBucket).add(hashOf(kind, name))
		}
		return true
	})
	return firstError(err, bad)
}

// splitKept says what the key of a deduplication id or an attempt is made of.
func splitDedupKey(k []byte) (slot uint64, q ID, kind byte, id string, ok bool) {
	if len(k) <= keyOf2 {
		return 0, 0, 0, "", false
	}
	return tail(k[:keyOf2], 1), ID(tail(k[:keyOf2], 0)), k[keyOf2], string(k[keyOf2+1:]), true
}

func (q *queue) filter(bucket uint64) *filter {
	f := q.filters[bucket]
	if f == nil {
		f = new(filter)
		q.filters[bucket] = f
	}
	return f
}

// find returns the newest slot within an interval that holds something under kind
// and id, and what that is, or nil.
func (q *queue) find(kind byte, id string) (slot uint64, value []byte, err error) {
	newest, oldest := slotOf(q.e.now), slotOf(q.e.horizon())
	hash := hashOf(kind, id)
	for n := range down(newest/slotsPerBucket, oldest/slotsPerBucket) {
		if f := q.filters[n]; f == nil || !f.has(hash) {
			continue
		}
		first := n * slotsPerBucket
		for slot := range down(min(newest, first+slotsPerBucket-1), max(oldest, first)) {
			value, err := q.e.tx.Get(dedupKey(slot, q.cfg.ID).byte(kind).string(id))
			if value != nil || err != nil {
				return slot, value, err
			}
		}
	}
	return 0, nil, nil
}

// down yields the numbers from high to low.
func down(high, low uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for n := high + 1; n > low && yield(n-1); n-- {
		}
	}
}

// recall returns the newest value kept under kind and id, at most an interval
// old. Values begin with their instant.
func (q *queue) lookup(kind byte, id string) (*reader, error) {
	_, b, err := q.find(kind, id)
	if b == nil || err != nil {
		return nil, err
	}
	r := readRecord(b)
	if t := r.instant(); r.err == nil && !inDedupInterval(t, q.e.now) {
		return nil, nil
	}
	return r, nil
}

// keep stores a value under kind and id for an interval.
func (q *queue) remember(kind byte, id string, value func(*writer)) {
	n := bucketOf(q.e.now)
	w := newRecord(48)
	w.instant(q.e.now)
	value(&w)
	q.e.tx.Set(dedupKey(slotOf(q.e.now), q.cfg.ID).byte(kind).string(id), w)
	q.filter(n).add(hashOf(kind, id))
	if q.dedupHigh == 0 {
		q.dedupLow = n
	}
	q.dedupHigh = n
	q.markDirty()
}

// dropOldBuckets removes the buckets that hold nothing young enough.
func (q *queue) dropOldBuckets() {
	current := bucketOf(q.e.now)
	if q.dedupHigh == 0 || current < q.dedupLow+2 {
		return
	}
	q.e.dropDedupBefore(current - 1)
	for n := range q.filters {
		if n < current-1 {
			delete(q.filters, n)
		}
	}
	q.dedupLow = current - 1
	if q.dedupHigh < q.dedupLow {
		q.dedupLow, q.dedupHigh = 0, 0
	}
	q.markDirty()
}

// dropKept removes what all queues have kept before a bucket.
func (e *Engine) dropDedupBefore(bucket uint64) {
	if bucket > e.dedupLow {
		lo, _ := tableRange(shared, tableDedup)
		e.tx.DeleteRange(lo, bucketKey(bucket))
		e.dedupLow = bucket
	}
}

// forgetKept removes what the queue has kept, slot by slot: where it has kept
// something, because each range deletion makes reading a little slower.
func (q *queue) purgeDedup() error {
	if q.dedupHigh == 0 {
		return nil
	}
	oldest := bucketOf(q.e.horizon())
	q.e.dropDedupBefore(oldest)
	_, end := tableRange(shared, tableDedup)
	for slot, more := max(oldest, q.dedupLow)*slotsPerBucket, true; more; slot++ {
		more = false
		var owner ID
		err := q.e.tx.Scan(dedupKey(slot, q.cfg.ID), end, func(k, _ []byte) bool {
			slot, owner, _, _, more = splitDedupKey(k)
			return false
		})
		switch {
		case err != nil:
			return err
		case more && owner < q.cfg.ID:
			slot-- // the first of a slot in which others are before this queue
		case more && owner == q.cfg.ID:
			q.e.tx.DeleteRange(dedupKey(slot, q.cfg.ID), dedupKey(slot, q.cfg.ID+1))
		}
	}
	return nil
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
	r, err := q.lookup(kindDedup, q.dedupScope(o))
	if r == nil || err != nil {
		return Sent{}, false, err
	}
	s := Sent{Sequence: r.uint(), Duplicate: true}
	copy(s.ID[:], r.raw(uint64(len(s.ID))))
	return s, true, r.done("deduplication id")
}

func (q *queue) rememberSend(o *Outgoing, s Sent) {
	q.remember(kindDedup, q.dedupScope(o), func(w *writer) {
		w.uint(s.Sequence)
		w.raw(s.ID[:])
	})
}

// rememberAttempt notes what a receive attempt was given.
func (q *queue) rememberAttempt(attempt string, given []Delivery) {
	q.remember(kindAttempt, attempt, func(w *writer) {
		w.uint(uint64(len(given)))
		for _, d := range given {
			w.uint(uint64(d.Position))
			w.uint(d.Receipt)
			w.instant(q.received[d.Position].deadline)
		}
	})
}

func (q *queue) forgetAttempt(attempt string) error {
	for {
		slot, value, err := q.find(kindAttempt, attempt)
		if value == nil || err != nil {
			return err
		}
		q.e.tx.Delete(dedupKey(slot, q.cfg.ID).byte(kindAttempt).string(attempt))
		q.markDirty()
	}
}

// repeat answers a receive attempt that was answered before: the same messages
// and receipts, their visibility timeout started anew.
func (q *queue) repeat(attempt string, timeout time.Duration) ([]Delivery, bool, error) {
	r, err := q.lookup(kindAttempt, attempt)
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
		q.startTimeout(m, timeout)
		q.save(m)
		out = append(out, m.delivery())
	}
	for _, m := range given {
		q.updateReady(m.group)
	}
	q.rememberAttempt(attempt, out)
	return out, true, nil
}
