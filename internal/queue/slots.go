package queue

import (
	"fmt"
	"iter"
	"time"
)

// Deduplication ids and receive attempts of all queues are stored together, in slots of a few seconds, and the store
// keeps them in tables of their own. If the ids were in alphabetical order or among the messages, each compaction would
// rewrite the ids of the last ten minutes. In order of time, compactions leave the tables with old ids alone.
//
// Nearly every id is new. Finding that out in the store would take a read of each slot, so filters in memory recognise
// most new ids. There is one filter for each bucket of slots. A bucket is as long as the interval, so ids younger than
// the interval are in the current bucket or the one before it, and older buckets are dropped whole.

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

// slots is the table of deduplication ids and receive attempts, which all queues of the shard share. Buckets before low
// were removed.
type slots struct {
	*transaction
	low uint64
}

// horizon returns the time before which ids and attempts no longer count.
func (s *slots) horizon() Instant { return max(0, s.now.Add(-DedupInterval)) }

// load fills the filters of queues from the store, and removes ids that are too old. of returns the filters of a queue,
// or nil if it needs none.
func (s *slots) load(of func(ID) *queue) error {
	oldest := bucketOf(s.horizon())
	lo, end := tableRange(shared, tableDedup)
	err := s.tx.Scan(lo, bucketKey(oldest), func(_, _ []byte) bool { s.dropBefore(oldest); return false })
	if err != nil {
		return err
	}
	var bad error
	err = s.tx.Scan(bucketKey(oldest), end, func(k, _ []byte) bool {
		slot, id, kind, name, ok := splitDedupKey(k)
		if !ok {
			bad = fmt.Errorf("%w: stray key %q", ErrDamaged, k)
			return false
		}
		if q := of(id); q != nil {
			q.dedup.filter(slot / slotsPerBucket).add(hashOf(kind, name))
		}
		return true
	})
	return firstError(err, bad)
}

// loadFilters fills the filters of one queue. It reads only the queue's rows.
func (d *dedup) loadFilters() error {
	if d.high == 0 {
		return nil
	}
	last := min(slotOf(d.now), (d.high+1)*slotsPerBucket-1)
	for slot := range down(last, max(d.low, bucketOf(d.slots.horizon()))*slotsPerBucket) {
		err := d.tx.Scan(dedupKey(slot, d.cfg.ID), dedupKey(slot, d.cfg.ID+1), func(k, _ []byte) bool {
			if _, _, kind, name, ok := splitDedupKey(k); ok {
				d.filter(slot / slotsPerBucket).add(hashOf(kind, name))
			}
			return true
		})
		if err != nil {
			return fmt.Errorf("deduplication ids: %w", err)
		}
	}
	return nil
}

// dropBefore removes the ids and attempts of all queues before a bucket.
func (s *slots) dropBefore(bucket uint64) {
	if bucket > s.low {
		lo, _ := tableRange(shared, tableDedup)
		s.tx.DeleteRange(lo, bucketKey(bucket))
		s.low = bucket
	}
}

// splitDedupKey returns the parts of the key of a deduplication id or an attempt.
func splitDedupKey(k []byte) (slot uint64, q ID, kind byte, id string, ok bool) {
	if len(k) <= keyOf2 {
		return 0, 0, 0, "", false
	}
	return tail(k[:keyOf2], 1), ID(tail(k[:keyOf2], 0)), k[keyOf2], string(k[keyOf2+1:]), true
}

// down yields the numbers from high to low.
func down(high, low uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for n := high + 1; n > low && yield(n-1); n-- {
		}
	}
}
