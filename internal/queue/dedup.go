package queue

import (
	"fmt"
	"iter"
	"time"
)

// Deduplication ids and receive attempts of all queues are stored together, in
// slots of a few seconds, and the store keeps them in tables of their own. In the
// order of the ids, or among the messages, each compaction would rewrite the ids of
// the last ten minutes; in order of time it leaves the tables with old ids alone.
//
// Nearly every id is new. To learn that from the store would take a look into each
// slot, so filters in memory know most ids that are not stored. A filter is for a
// bucket of slots, which is as long as the interval: ids younger than the interval
// are in the current bucket or the one before it, and older buckets are dropped whole.

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

// horizon returns the time before which no id or attempt counts any more.
func (e *Engine) horizon() Instant { return max(0, e.now.Add(-DedupInterval)) }

// loadFilters builds the filters of all queues from what is stored, and removes ids
// that are too old.
func (e *Engine) loadFilters() error {
	return e.fillFilters(func(id ID) *queue { return e.queues[id] })
}

// fillFilters builds the filters of the queues that of returns. It returns nil for the others.
func (e *Engine) fillFilters(of func(ID) *queue) error {
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
		if q := of(id); q != nil {
			q.filter(slot / slotsPerBucket).add(hashOf(kind, name))
		}
		return true
	})
	return firstError(err, bad)
}

// splitDedupKey returns the parts of the key of a deduplication id or an attempt.
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

// find returns the value stored under kind and id in the newest slot of the last
// interval, and the slot; the value is nil if there is none.
func (q *queue) find(kind byte, id string) (slot uint64, value []byte, err error) {
	newest, oldest := slotOf(q.now), slotOf(q.e.horizon())
	hash := hashOf(kind, id)
	for n := range down(newest/slotsPerBucket, oldest/slotsPerBucket) {
		if f := q.filters[n]; f == nil || !f.has(hash) {
			continue
		}
		first := n * slotsPerBucket
		for slot := range down(min(newest, first+slotsPerBucket-1), max(oldest, first)) {
			value, err := q.tx.Get(dedupKey(slot, q.cfg.ID).byte(kind).string(id))
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

// lookup returns the newest value stored under kind and id, at most an interval
// old, or nil. Values begin with their instant.
func (q *queue) lookup(kind byte, id string) (*reader, error) {
	_, b, err := q.find(kind, id)
	if b == nil || err != nil {
		return nil, err
	}
	r := readRecord(b)
	if t := r.Instant(); !r.Failed() && !inDedupInterval(t, q.now) {
		return nil, nil
	}
	return r, nil
}

// remember stores a value under kind and id for an interval.
func (q *queue) remember(kind byte, id string, value func(*writer)) {
	n := bucketOf(q.now)
	w := newRecord(48)
	w.Instant(q.now)
	value(&w)
	q.tx.Set(dedupKey(slotOf(q.now), q.cfg.ID).byte(kind).string(id), w.Writer)
	q.filter(n).add(hashOf(kind, id))
	if q.dedupHigh == 0 {
		q.dedupLow = n
	}
	q.dedupHigh = n
	q.markDirty()
}

// dropOldBuckets removes the buckets in which all ids are too old.
func (q *queue) dropOldBuckets() {
	current := bucketOf(q.now)
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

// dropDedupBefore removes the ids and attempts of all queues before a bucket.
func (e *Engine) dropDedupBefore(bucket uint64) {
	if bucket > e.dedupLow {
		lo, _ := tableRange(shared, tableDedup)
		e.tx.DeleteRange(lo, bucketKey(bucket))
		e.dedupLow = bucket
	}
}

// purgeDedup removes the ids and attempts of the queue. It deletes a range only in
// slots that hold some, because each range deletion makes reading a little slower.
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
		err := q.tx.Scan(dedupKey(slot, q.cfg.ID), end, func(k, _ []byte) bool {
			slot, owner, _, _, more = splitDedupKey(k)
			return false
		})
		switch {
		case err != nil:
			return err
		case more && owner < q.cfg.ID:
			slot-- // other queues are in front of this one in the slot: look there again
		case more && owner == q.cfg.ID:
			q.tx.DeleteRange(dedupKey(slot, q.cfg.ID), dedupKey(slot, q.cfg.ID+1))
		}
	}
	return nil
}

// dedupScope returns the text that is equal for two messages if they are duplicates.
func (q *queue) dedupScope(o *Outgoing) string {
	if q.cfg.DedupPerGroup {
		return o.Group + "\x00" + o.Dedup
	}
	return o.Dedup
}

// duplicateOf returns the answer that the earlier message got which o repeats.
func (q *queue) duplicateOf(o *Outgoing) (Sent, bool, error) {
	r, err := q.lookup(kindDedup, q.dedupScope(o))
	if r == nil || err != nil {
		return Sent{}, false, err
	}
	s := Sent{Sequence: r.Uint(), Duplicate: true}
	copy(s.ID[:], r.Raw(uint64(len(s.ID))))
	return s, true, r.done("deduplication id")
}

func (q *queue) rememberSend(o *Outgoing, s Sent) {
	q.remember(kindDedup, q.dedupScope(o), func(w *writer) {
		w.Uint(s.Sequence)
		w.Raw(s.ID[:])
	})
}

// rememberAttempt stores what a receive attempt was given.
func (q *queue) rememberAttempt(attempt string, given []Delivery) {
	q.remember(kindAttempt, attempt, func(w *writer) {
		w.Uint(uint64(len(given)))
		for _, d := range given {
			w.Uint(uint64(d.Position))
			w.Uint(d.Receipt)
			w.Instant(q.received[d.Position].deadline)
		}
	})
}

func (q *queue) forgetAttempt(attempt string) error {
	for {
		slot, value, err := q.find(kindAttempt, attempt)
		if value == nil || err != nil {
			return err
		}
		q.tx.Delete(dedupKey(slot, q.cfg.ID).byte(kindAttempt).string(attempt))
		q.markDirty()
	}
}

// repeat answers a receive attempt that was answered before, with the same messages
// and receipts. Their visibility timeout starts anew.
func (q *queue) repeat(attempt string, timeout time.Duration) ([]Delivery, bool, error) {
	r, err := q.lookup(kindAttempt, attempt)
	if r == nil || err != nil {
		return nil, false, err
	}
	n := r.Uint()
	var given []*received
	for range n {
		p, receipt, deadline := Position(r.Uint()), r.Uint(), r.Instant()
		if r.Failed() {
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
