package queue

import (
	"fmt"
	"slices"
)

// aging records how far blocks have been merged into those of the next level. A block is too old when its end is older
// than its level's retention. Blocks that begin at the same instant are merged name by name, and deleted as a range
// when all names are done. An engine that is loaded halfway merges them again, which changes nothing.
type aging struct {
	next   Instant              // when the first block is too old
	after  string               // the names of its instant up to here are merged
	oldest [len(levels)]Instant // when the oldest block of each level begins; never if there is none
}

// loadAging finds the oldest block of each level.
func (s *series) loadAging() error {
	for n := range levels {
		if err := s.findOldest(n); err != nil {
			return err
		}
	}
	s.scheduleAging()
	return nil
}

// findOldest finds the oldest block of a level.
func (s *series) findOldest(n int) error {
	s.aging.oldest[n] = never
	var bad error
	err := s.tx.Scan(blocksAt(n, 0), blocksAt(n+1, 0), func(k, _ []byte) bool {
		_, start, _, ok := splitBlockKey(k)
		if !ok {
			bad = fmt.Errorf("%w: stray key %q", ErrDamaged, k)
		}
		s.aging.oldest[n] = start
		s.waits = false
		return false
	})
	return firstError(err, bad)
}

// scheduleAging sets the time at which the first block is too old.
func (s *series) scheduleAging() {
	s.aging.next = never
	if s.keep.off() {
		return
	}
	for n := range levels {
		s.aging.next = min(s.aging.next, s.tooOld(n))
	}
}

// tooOld returns when the oldest block of a level is too old.
func (s *series) tooOld(n int) Instant {
	oldest := s.aging.oldest[n]
	if oldest == never {
		return never
	}
	return oldest + levels[n].length + Instant(s.keep.level(n).Milliseconds())
}

// age merges blocks that are too old, a limited number of names at a time.
func (s *series) age() error {
	for n := range levels {
		if s.tooOld(n) > s.now {
			continue
		}
		if err := s.mergeOldest(n); err != nil {
			return fmt.Errorf("old series: %w", err)
		}
		break // the rest in another transaction
	}
	s.scheduleAging()
	return nil
}

// mergeOldest merges the oldest blocks of a level into the next level, or deletes those of the last level.
func (s *series) mergeOldest(n int) error {
	start := s.aging.oldest[n]
	if n == len(levels)-1 {
		if done, err := s.dropNames(start + levels[n].length); !done || err != nil {
			return err
		}
	} else {
		done, err := s.mergeNames(n, start)
		if !done || err != nil {
			return err
		}
		s.aging.oldest[n+1] = min(s.aging.oldest[n+1], levels[n+1].startOf(start))
	}
	s.aging.after = ""
	s.tx.DeleteRange(blocksAt(n, start), blocksAt(n, start+1))
	return s.findOldest(n)
}

// mergeNames merges the blocks of a level that begin at an instant, after the names already merged. It reports whether
// it merged the last one.
func (s *series) mergeNames(n int, start Instant) (done bool, err error) {
	type block struct {
		name string
		rows []Row
	}
	var blocks []block
	var bad error
	from := blocksAt(n, start).string(s.aging.after)
	if s.aging.after != "" {
		from = from.byte(0)
	}
	done = true
	err = s.tx.Scan(from, blocksAt(n, start+1), func(k, v []byte) bool {
		if len(blocks) == workAtOnce/4 {
			done = false
			return false
		}
		_, _, name, ok := splitBlockKey(k)
		if !ok {
			bad = fmt.Errorf("%w: stray key %q", ErrDamaged, k)
			return false
		}
		rows, err := decodeBlock(n, start, v)
		bad = err
		blocks = append(blocks, block{name, rows})
		return bad == nil
	})
	if err := firstError(err, bad); err != nil {
		return false, err
	}
	for _, b := range blocks {
		if s.Full() {
			return false, nil
		}
		if err := s.mergeRows(n+1, b.name, b.rows); err != nil {
			return false, err
		}
		s.aging.after = b.name
		s.work++
	}
	return done, nil
}

// mergeRows merges rows of a level into rows of the next level. It skips rows that the next level already has: they
// were merged before.
func (s *series) mergeRows(n int, name string, rows []Row) error {
	step := levels[n].step
	var merged []Row
	for i := range rows {
		at := rows[i].Time - rows[i].Time%step
		if last := len(merged) - 1; last >= 0 && merged[last].Time == at {
			merged[last].merge(&rows[i])
			continue
		}
		merged = append(merged, rows[i])
		merged[len(merged)-1].Time = at
	}
	var have []Row
	if len(merged) > 0 {
		start := levels[n].startOf(merged[0].Time)
		b, err := s.tx.Get(blockKey(n, start, name))
		if err == nil && b != nil {
			have, err = decodeBlock(n, start, b)
		}
		if err != nil {
			return err
		}
	}
	merged = slices.DeleteFunc(merged, func(r Row) bool {
		return slices.ContainsFunc(have, func(h Row) bool { return h.Time == r.Time })
	})
	return s.addRows(n, name, merged...)
}

// dropNames removes the names that have no rows after an instant. It reports whether it has seen all names.
func (s *series) dropNames(before Instant) (done bool, err error) {
	var gone [][]byte
	var bad error
	lo, hi := tableRange(shared, tableName)
	err = s.tx.Scan(lo, hi, func(k, v []byte) bool {
		n, err := decodeSeriesName(v)
		if bad = err; err == nil && n.last+levels[0].length <= before {
			gone = append(gone, slices.Clone(k))
		}
		return bad == nil && len(gone) < workAtOnce
	})
	if err := firstError(err, bad); err != nil {
		return false, err
	}
	for _, k := range gone {
		if s.Full() {
			return false, nil
		}
		s.tx.Delete(k)
	}
	return len(gone) < workAtOnce, nil
}
