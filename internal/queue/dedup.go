package queue

import "fmt"

// dedup remembers the deduplication ids of the messages that a queue has accepted, and the receive attempts that it has
// answered, each for DedupInterval.
//
//   - A row is in the slot of the instant at which it was written. The slots in use are in the buckets [low, high] of
//     the queue's record; high is 0 if there are none.
//   - Each id that still counts is in the filter of its bucket, so an id that is in no filter is new.
//   - Ids are not removed one by one: a bucket is removed when all its ids are too old.
type dedup struct {
	*base
	dedupRecord
	forgottenRecord
	slots   *slots
	filters map[uint64]*filter // by bucket
}

func newDedup(b *base, s *slots) dedup {
	return dedup{base: b, slots: s, filters: make(map[uint64]*filter)}
}

func (d *dedup) filter(bucket uint64) *filter {
	f := d.filters[bucket]
	if f == nil {
		f = new(filter)
		d.filters[bucket] = f
	}
	return f
}

// find returns the value stored under kind and id in the newest slot of the last interval, and that slot. The value is
// nil if there is none.
func (d *dedup) find(kind byte, id string) (slot uint64, value []byte, err error) {
	newest, oldest := slotOf(d.now), slotOf(d.slots.horizon())
	hash := hashOf(kind, id)
	for n := range down(newest/slotsPerBucket, oldest/slotsPerBucket) {
		if f := d.filters[n]; f == nil || !f.has(hash) {
			continue
		}
		first := n * slotsPerBucket
		for slot := range down(min(newest, first+slotsPerBucket-1), max(oldest, first)) {
			value, err := d.tx.Get(dedupKey(slot, d.cfg.ID).byte(kind).string(id))
			if value != nil || err != nil {
				return slot, value, err
			}
		}
	}
	return 0, nil, nil
}

// lookup returns the newest value stored under kind and id within the last interval, or nil. Values begin with their
// instant.
func (d *dedup) lookup(kind byte, id string) (*reader, error) {
	_, b, err := d.find(kind, id)
	if b == nil || err != nil {
		return nil, err
	}
	r := readRecord(b)
	if t := r.Instant(); !r.Failed() && !inDedupInterval(t, d.now) {
		return nil, nil
	}
	return r, nil
}

// remember stores a value under kind and id for an interval.
func (d *dedup) remember(kind byte, id string, value func(*writer)) {
	n := bucketOf(d.now)
	w := newRecord(48)
	w.Instant(d.now)
	value(&w)
	d.tx.Set(dedupKey(slotOf(d.now), d.cfg.ID).byte(kind).string(id), w.Writer)
	d.filter(n).add(hashOf(kind, id))
	if d.high == 0 {
		d.low = n
	}
	d.high = n
	d.markDirty()
}

// wakeAt returns when a bucket will be too old, or never.
func (d *dedup) wakeAt() Instant {
	if d.high == 0 {
		return never
	}
	return bucketStart(d.low + 2)
}

// dropOld removes the buckets in which all ids are too old.
func (d *dedup) dropOld() {
	if d.until != 0 && d.now >= d.until {
		d.forgottenRecord = forgottenRecord{}
		d.markDirty()
	}
	current := bucketOf(d.now)
	if d.high == 0 || current < d.low+2 {
		return
	}
	d.slots.dropBefore(current - 1)
	for n := range d.filters {
		if n < current-1 {
			delete(d.filters, n)
		}
	}
	d.low = current - 1
	if d.high < d.low {
		d.low, d.high = 0, 0
	}
	d.markDirty()
}

// purge forgets all ids and attempts. It deletes ranges only in slots in use, because each range deletion makes reads a
// little slower.
func (d *dedup) purge() error {
	if d.high == 0 {
		d.forgottenRecord = forgottenRecord{}
		return nil
	}
	oldest := bucketOf(d.slots.horizon())
	d.slots.dropBefore(oldest)
	_, end := tableRange(shared, tableDedup)
	for slot, more := max(oldest, d.low)*slotsPerBucket, true; more; slot++ {
		more = false
		var owner ID
		err := d.tx.Scan(dedupKey(slot, d.cfg.ID), end, func(k, _ []byte) bool {
			slot, owner, _, _, more = splitDedupKey(k)
			return false
		})
		switch {
		case err != nil:
			return err
		case more && owner < d.cfg.ID:
			slot-- // other queues are in front of this one in the slot: look there again
		case more && owner == d.cfg.ID:
			d.tx.DeleteRange(dedupKey(slot, d.cfg.ID), dedupKey(slot, d.cfg.ID+1))
		}
	}
	clear(d.filters)
	d.dedupRecord, d.forgottenRecord = dedupRecord{}, forgottenRecord{}
	return nil
}

// forget disregards the ids and attempts with numbers up to these. Their rows stay, so an undo of the purge can restore
// them.
func (d *dedup) forget(sequence, receipts uint64) {
	d.forgottenRecord = forgottenRecord{sequence: sequence, receipts: receipts, until: d.now.Add(DedupInterval)}
}

// scope returns a text that is equal for duplicates.
func (d *dedup) scope(o *Outgoing) string {
	if d.cfg.DedupPerGroup {
		return o.Group + "\x00" + o.Dedup
	}
	return o.Dedup
}

// duplicateOf returns the answer to the earlier message that o repeats.
func (d *dedup) duplicateOf(o *Outgoing) (Sent, bool, error) {
	r, err := d.lookup(kindDedup, d.scope(o))
	if r == nil || err != nil {
		return Sent{}, false, err
	}
	s := Sent{Sequence: r.Uint(), Duplicate: true}
	if s.Sequence <= d.sequence {
		return Sent{}, false, r.err()
	}
	copy(s.ID[:], r.Raw(uint64(len(s.ID))))
	return s, true, r.done("deduplication id")
}

func (d *dedup) rememberSend(o *Outgoing, s Sent) {
	d.remember(kindDedup, d.scope(o), func(w *writer) {
		w.Uint(s.Sequence)
		w.Raw(s.ID[:])
	})
}

// attempt returns the deliveries of a repeated receive attempt, with only their position, receipt and end of the
// visibility timeout. It returns false if the attempt is new.
func (d *dedup) attempt(attempt string) (given []Delivery, found bool, err error) {
	r, err := d.lookup(kindAttempt, attempt)
	if r == nil || err != nil {
		return nil, false, err
	}
	for range r.count(3) {
		given = append(given, Delivery{Position: Position(r.Uint()), Receipt: r.Uint(), Until: r.Instant()})
	}
	if err := r.done("receive attempt"); err != nil {
		return nil, false, fmt.Errorf("repeat: %w", err)
	}
	if len(given) > 0 && given[0].Receipt <= d.receipts {
		return nil, false, nil
	}
	return given, true, nil
}

// rememberAttempt stores the deliveries of a receive attempt.
func (d *dedup) rememberAttempt(attempt string, given []Delivery) {
	d.remember(kindAttempt, attempt, func(w *writer) {
		w.Uint(uint64(len(given)))
		for _, x := range given {
			w.Uint(uint64(x.Position))
			w.Uint(x.Receipt)
			w.Instant(x.Until)
		}
	})
}

func (d *dedup) forgetAttempt(attempt string) error {
	for {
		slot, value, err := d.find(kindAttempt, attempt)
		if value == nil || err != nil {
			return err
		}
		d.tx.Delete(dedupKey(slot, d.cfg.ID).byte(kindAttempt).string(attempt))
		d.markDirty()
	}
}
