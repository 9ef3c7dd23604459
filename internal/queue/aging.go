package queue

import (
	"fmt"
	"slices"
)

// aging is how far blocks have been merged into those of the next level. A block is too
// old when even its end is older than its level keeps. The blocks of a level that begin
// at the same instant are merged name by name, and dropped as a range when all are. If
// the engine is loaded before, it merges them again, which changes nothing.
type aging struct {
	next   Instant              // when the first block is too old
	after  string               // the names of its instant up to here are merged
	oldest [len(levels)]Instant // when the oldest block of each level begins; never if there is none
}

// loadAging finds the oldest blocks.
func (e *Engine) loadAging() error {
	for n := range levels {
		if err := e.findOldest(n); err != nil {
			return err
		}
	}
	e.scheduleAging()
	return nil
}

// findOldest finds the oldest block of a level.
func (e *Engine) findOldest(n int) error {
	e.aging.oldest[n] = never
	var bad error
	err := e.tx.Scan(blocksAt(n, 0), blocksAt(n+1, 0), func(k, _ []byte) bool {
		_, start, _, ok := splitBlockKey(k)
		if !ok {
			bad = fmt.Errorf("%w: stray key %q", ErrDamaged, k)
		}
		e.aging.oldest[n] = start
		e.waits = false
		return false
	})
	return firstError(err, bad)
}

// scheduleAging sets when the first block is too old.
func (e *Engine) scheduleAging() {
	e.aging.next = never
	if e.keep.off() {
		return
	}
	for n := range levels {
		e.aging.next = min(e.aging.next, e.tooOld(n))
	}
}

// tooOld returns when the oldest block of a level is too old.
func (e *Engine) tooOld(n int) Instant {
	oldest := e.aging.oldest[n]
	if oldest == never {
		return never
	}
	return oldest + levels[n].length + Instant(e.keep.level(n).Milliseconds())
}

// age merges blocks that are too old, a bounded number of names at a time.
func (e *Engine) age() error {
	for n := range levels {
		if e.tooOld(n) > e.now {
			continue
		}
		if err := e.mergeOldest(n); err != nil {
			return fmt.Errorf("old series: %w", err)
		}
		break // the rest in another transaction
	}
	e.scheduleAging()
	return nil
}

// mergeOldest merges the oldest blocks of a level into the next level, or drops those of
// the last level.
func (e *Engine) mergeOldest(n int) error {
	start := e.aging.oldest[n]
	if n == len(levels)-1 {
		if done, err := e.dropNames(start + levels[n].length); !done || err != nil {
			return err
		}
	} else {
		done, err := e.mergeNames(n, start)
		if !done || err != nil {
			return err
		}
		e.aging.oldest[n+1] = min(e.aging.oldest[n+1], levels[n+1].startOf(start))
	}
	e.aging.after = ""
	e.tx.DeleteRange(blocksAt(n, start), blocksAt(n, start+1))
	return e.findOldest(n)
}

// mergeNames merges the blocks of a level that begin at an instant, after those that are
// merged already, and reports whether these were all.
func (e *Engine) mergeNames(n int, start Instant) (done bool, err error) {
	type block struct {
		name string
		rows []Row
	}
	var blocks []block
	var bad error
	from := blocksAt(n, start).string(e.aging.after)
	if e.aging.after != "" {
		from = from.byte(0)
	}
	done = true
	err = e.tx.Scan(from, blocksAt(n, start+1), func(k, v []byte) bool {
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
		if e.Full() {
			return false, nil
		}
		if err := e.mergeRows(n+1, b.name, b.rows); err != nil {
			return false, err
		}
		e.aging.after = b.name
		e.work++
	}
	return done, nil
}

// mergeRows makes rows of a level out of some of the level before it. Those of which the
// level has rows already are left out: they were merged before.
func (e *Engine) mergeRows(n int, name string, rows []Row) error {
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
		b, err := e.tx.Get(blockKey(n, start, name))
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
	return e.addRows(n, name, merged...)
}

// dropNames removes the names of which there are no rows after an instant, and reports whether these were all.
func (e *Engine) dropNames(before Instant) (done bool, err error) {
	var gone [][]byte
	var bad error
	lo, hi := tableRange(shared, tableName)
	err = e.tx.Scan(lo, hi, func(k, v []byte) bool {
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
		if e.Full() {
			return false, nil
		}
		e.tx.Delete(k)
	}
	return len(gone) < workAtOnce, nil
}
