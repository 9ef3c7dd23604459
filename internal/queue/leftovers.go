package queue

import "fmt"

// Leftovers finds data in the store that belongs to none of the given queues. It returns the ids of the other queues;
// when an engine is loaded, it removes the data of those that were deleted. Keys that no engine writes are problems.
// Leftovers also checks the tables that the queues share: deduplication ids, and the series of queues and topics.
func Leftovers(r Reader, configs []Config) (ids []ID, problems []string, err error) {
	known := make(map[ID]*meta, len(configs))
	for _, cfg := range configs {
		record, err := r.Get(metaKey(cfg.ID))
		if err != nil {
			return nil, nil, fmt.Errorf("look for leftovers: %w", err)
		}
		known[cfg.ID] = new(meta)
		_ = known[cfg.ID].decode(record) // Check reports what is wrong with it
	}
	want := func(err error) {
		if err != nil && len(problems) < problemsKept {
			problems = append(problems, err.Error())
		}
	}
	backlog := backlogChecker{}
	from := []byte{0}
	_, end := queueRange(1<<64 - 2)
	for from != nil {
		lo := from
		from = nil
		scanErr := r.Scan(lo, end, func(k, v []byte) bool {
			id, ok := queueOf(k)
			switch {
			case string(k) == string(clockKey):
				rec := readRecord(v)
				rec.Instant()
				want(rec.done("clock"))
			case !ok:
				want(fmt.Errorf("stray key %q", k))
			case id == ofShard && k[8] == tableTopic:
				want(new(topicMinute).decode(v))
			case id == ofShard:
				want(backlog.check(k, v))
			case id == shared && (k[8] == tableBlock || k[8] == tableName):
				want(checkSeries(r, k, v))
			case id == shared:
				want(checkDedup(k, v, known))
			default:
				if known[id] == nil {
					ids = append(ids, id)
				}
				_, from = queueRange(id)
				return false
			}
			return true
		})
		if scanErr != nil {
			return nil, nil, fmt.Errorf("look for leftovers: %w", scanErr)
		}
	}
	want(backlog.done())
	return ids, problems, nil
}

// backlogChecker counts the publications of the backlog. The backlog's record comes first in the order of keys.
type backlogChecker struct {
	backlogRecord
	found uint64
}

func (c *backlogChecker) check(k, v []byte) error {
	switch {
	case string(k) == string(backlogKey):
		return c.decode(v)
	case k[8] != tablePublication || len(k) != keyOf1:
		return fmt.Errorf("stray key %q", k)
	}
	c.found++
	n := tail(k, 0)
	if n < c.head || n >= c.end {
		return fmt.Errorf("publication %d of the backlog is not in [%d, %d)", n, c.head, c.end)
	}
	x, err := decodeBacklogged(v)
	if err == nil && n == c.head && c.next > uint64(len(x.Copies)) {
		err = fmt.Errorf("publication %d of the backlog goes on with copy %d of %d", n, c.next, len(x.Copies))
	}
	return err
}

func (c *backlogChecker) done() error {
	if c.found != c.end-c.head {
		return fmt.Errorf("%d publications wait, the record of the backlog says %d", c.found, c.end-c.head)
	}
	return nil
}

// checkDedup checks the record of a deduplication id or a receive attempt, of a known queue or of a leftover.
func checkDedup(k, v []byte, known map[ID]*meta) error {
	slot, id, kind, _, ok := splitDedupKey(k)
	if !ok || k[8] != tableDedup {
		return fmt.Errorf("stray key %q", k)
	}
	r := readRecord(v)
	at := r.Instant()
	switch kind {
	case kindDedup:
		r.Uint()
		r.Raw(uint64(len(MessageID{})))
	case kindAttempt:
		for left := r.Uint(); left > 0 && !r.Failed(); left-- {
			r.Uint()
			r.Uint()
			r.Instant()
		}
	default:
		return fmt.Errorf("stray key %q", k)
	}
	if err := r.done("slot"); err != nil {
		return fmt.Errorf("key %q: %w", k, err)
	}
	if slotOf(at) != slot {
		return fmt.Errorf("what was stored at %v is in slot %d", at, slot)
	}
	n := slot / slotsPerBucket
	if m := known[id]; m != nil && (n < m.dedup.low || m.dedup.high < n) {
		return fmt.Errorf("queue %d: bucket %d is not in [%d, %d]", id, n, m.dedup.low, m.dedup.high)
	}
	return nil
}
