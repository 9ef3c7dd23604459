package queue

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/tool/varint"
)

// A level is a resolution of the series. The rows of a name are stored in blocks of several rows under one key. When a
// block is too old for its level, its rows are merged into rows of the next level.
type level struct {
	step   Instant // the length of a row
	length Instant // of a block
}

var levels = [...]level{
	{minute, hour},
	{5 * minute, 12 * hour},
	{hour, 240 * hour},
}

const hour = 60 * minute

// Keep sets how long rows of one minute, of five minutes and of an hour are kept. If Minutes is 0, there are no series.
type Keep struct {
	Minutes, FiveMinutes, Hours time.Duration
	// UpTo is the highest data directory format that all programs that may open the store later can read; 0 means any.
	// Features that need a later format do not begin before Allow. A feature that has begun continues.
	UpTo int
}

// DefaultKeep is what CloudWatch keeps.
var DefaultKeep = Keep{Minutes: 15 * 24 * time.Hour, FiveMinutes: 63 * 24 * time.Hour, Hours: 455 * 24 * time.Hour}

func (k Keep) level(n int) time.Duration {
	return [...]time.Duration{k.Minutes, k.FiveMinutes, k.Hours}[n]
}

// keepLeast is the minimum time for which rows of one minute are kept: alarms look back an hour.
const keepLeast = 3 * time.Hour

// Validate returns a sentence about the first mistake in k, or nil.
func (k Keep) Validate() error {
	switch {
	case k.Minutes == 0:
		return nil
	case k.Minutes < keepLeast:
		return fmt.Errorf("minutes are kept for %v: want %v or more, or 0 for no metrics of queues", k.Minutes, keepLeast)
	case k.FiveMinutes < k.Minutes || k.Hours < k.FiveMinutes:
		return fmt.Errorf(
			"minutes are kept for %v, five minutes for %v, hours for %v: want none shorter than the one before",
			k.Minutes, k.FiveMinutes, k.Hours,
		)
	case k.Hours > keepMost:
		return fmt.Errorf("hours are kept for %v: want %v or less", k.Hours, keepMost)
	}
	return nil
}

// keepMost is the maximum of each time: ten years.
const keepMost = 10 * 366 * 24 * time.Hour

// off reports whether there are no series.
func (k Keep) off() bool { return k.Minutes == 0 }

// waitsFor reports whether a feature that needs this format must not begin yet.
func (k Keep) waitsFor(format int) bool { return 0 < k.UpTo && k.UpTo < format }

// blockKey is the key of the block of a level that begins at an instant. Blocks are ordered by time first, so that old
// ones can be deleted as a range.
func blockKey(level int, start Instant, name string) key {
	return blocksAt(level, start).string(name)
}

func blocksAt(level int, start Instant) key {
	return tableKey(shared, tableBlock).byte(byte(level)).instant(start)
}

// startOf returns the beginning of the block that holds the rows of an instant.
func (l level) startOf(t Instant) Instant { return t - t%l.length }

// splitBlockKey returns the parts of the key of a block.
func splitBlockKey(k []byte) (level int, start Instant, name string, ok bool) {
	const fixed = keyOf0 + 1 + 8
	if len(k) <= fixed || int(k[keyOf0]) >= len(levels) {
		return 0, 0, "", false
	}
	return int(k[keyOf0]), Instant(tail(k[:fixed], 0)), string(k[fixed:]), true
}

// encodeBlock returns the record of rows in order of time. Each row is the difference from the row before it, and the
// first row the difference from zero:
//
//	version | row ...
//	row:  steps from the end of the row before | Minutes, but not in level 0
//	      | bits of the metrics that differ | differences of Sum, and of Min and Max where they are not Sum
//
// So a queue without changes takes two bytes a minute, and gauges without changes take none. If a row has sizes that do
// not follow from Min and Max, the record's version is sizedBlock, and each row ends with the length of its sizes, or
// 0, and the sizes.
func encodeBlock(n int, start Instant, rows []Row) []byte {
	w := newRecord(16 * (1 + len(rows)))
	sizes := slices.ContainsFunc(rows, func(r Row) bool { return r.Sizes != nil })
	if sizes {
		w.Writer[0] = sizedBlock
	}
	var buf []byte
	before := &Row{}
	next := start
	for i := range rows {
		r := &rows[i]
		w.Uint(uint64((r.Time - next) / levels[n].step))
		next = r.Time + levels[n].step
		if n > 0 {
			w.Uint(r.Minutes)
		}
		putValues(&w.Writer, n, before, r)
		if sizes {
			buf = r.Sizes.AppendTo(buf[:0])
			w.Uint(uint64(len(buf)))
			w.Raw(buf)
		}
		before = r
	}
	return w.Writer
}

func putValues(w *varint.Writer, n int, before, r *Row) {
	w.Sparse(Metrics, func(m int) bool { return r.Values[m] != before.Values[m] }, func(m int) {
		v, b := r.Values[m], before.Values[m]
		w.Int(int64(v.Sum - b.Sum))
		if hasRange(n, m) {
			w.Int(int64(v.Min - b.Min))
			w.Int(int64(v.Max - b.Max))
		}
	})
}

// hasRange reports whether the minimum and the maximum of a metric can differ from its sum.
func hasRange(n, m int) bool { return n > 0 || Metric(m) == MetricSentBytes }

// sizedBlock is the version of a block with sizes. Blocks without sizes have recordVersion, which older programs can
// read.
const sizedBlock = 2

func decodeBlock(n int, start Instant, b []byte) ([]Row, error) {
	return appendSizedBlock(make([]Row, 0, 64), n, start, b)
}

// appendBlock appends the rows of a block, without their sizes, to none.
func appendBlock(rows []Row, n int, start Instant, b []byte) ([]Row, error) {
	return appendRows(rows, n, start, b, nil)
}

// appendSizedBlock is appendBlock with sizes.
func appendSizedBlock(rows []Row, n int, start Instant, b []byte) ([]Row, error) {
	return appendRows(rows, n, start, b, ReadSizes)
}

func appendRows(rows []Row, n int, start Instant, b []byte, sizes func([]byte) (*Sizes, error)) ([]Row, error) {
	r := readRecordUpTo(sizedBlock, b)
	l := levels[n]
	before := &Row{}
	next, end := start, start+l.length
	for r.Left() > 0 && !r.Failed() {
		steps := r.Uint()
		if steps >= uint64(l.length/l.step) {
			r.Fail()
			break
		}
		row := Row{Time: next + Instant(steps)*l.step, Minutes: 1}
		if n > 0 {
			row.Minutes = r.Uint()
		}
		getValues(r, n, before, &row)
		if len(b) > 0 && b[0] == sizedBlock {
			getSizes(r, &row, sizes)
		}
		if next = row.Time + l.step; next > end {
			r.Fail()
		}
		rows = append(rows, row)
		before = &rows[len(rows)-1]
	}
	return rows, r.done("series")
}

func getValues(r *reader, n int, before, row *Row) {
	row.Values = before.Values
	r.Sparse(Metrics, func(m int) {
		v := &row.Values[m]
		v.Sum += uint64(r.Int())
		if hasRange(n, m) {
			v.Min += uint64(r.Int())
			v.Max += uint64(r.Int())
		} else {
			v.Min, v.Max = v.Sum, v.Sum
		}
	})
}

// getSizes takes the sizes of a row, and skips them without read.
func getSizes(r *reader, row *Row, read func([]byte) (*Sizes, error)) {
	b := r.Raw(r.Uint())
	if read == nil {
		return
	}
	var err error
	if row.Sizes, err = read(b); err != nil {
		r.Fail()
	}
}

// addRows adds rows to the blocks of a name in a level. A row whose time already has a row is added to it.
func (s *series) addRows(n int, name string, rows ...Row) error {
	for len(rows) > 0 {
		start := levels[n].startOf(rows[0].Time)
		end := slices.IndexFunc(rows, func(r Row) bool { return levels[n].startOf(r.Time) != start })
		if end < 0 {
			end = len(rows)
		}
		if err := s.addToBlock(n, start, name, rows[:end]); err != nil {
			return fmt.Errorf("series of %s: %w", name, err)
		}
		rows = rows[end:]
	}
	return nil
}

func (s *series) addToBlock(n int, start Instant, name string, rows []Row) error {
	k := blockKey(n, start, name)
	b, err := s.tx.Get(k)
	if err != nil {
		return err
	}
	have := s.rows[:0]
	if b != nil {
		if have, err = appendSizedBlock(have, n, start, b); err != nil {
			return err
		}
	}
	for i := range rows {
		at, found := slices.BinarySearchFunc(have, rows[i].Time, func(r Row, t Instant) int {
			return cmp.Compare(r.Time, t)
		})
		if found {
			have[at].Add(&rows[i])
		} else {
			have = slices.Insert(have, at, rows[i])
		}
	}
	s.rows = have
	if s.unsized {
		for i := range have {
			have[i].Sizes = nil
		}
	}
	s.tx.Set(k, encodeBlock(n, start, have))
	s.needs(formats.Series)
	if slices.ContainsFunc(have, func(r Row) bool { return r.Sizes != nil }) {
		s.needs(formats.Sizes)
	}
	return nil
}
