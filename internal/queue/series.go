package queue

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/formats"
)

// series writes the counted events: the rows of queues and topics in blocks (block.go), and the names that have rows
// (name.go). It merges rows that are too old for their level (aging.go).
//
//   - A row is written after its minute is over, in one transaction with the clock, so no minute occurs twice.
//   - The table of names has the name of each block.
//   - Series belong to names: they stay when the queue or the topic is removed.
type series struct {
	*transaction
	keep    Keep
	waits   bool            // for Allow, to count
	unsaid  bool            // for Allow: the names of queues are not stored beside their records
	unsized bool            // for Allow: how many messages had which size is not stored
	totals  [Counters]int64 // of all queues, including removed ones
	aging   aging
	rows    []Row // scratch for the rows of a block
}

func newSeries(t *transaction, keep Keep) series {
	return series{
		transaction: t, keep: keep, waits: keep.waitsFor(formats.Series), unsaid: keep.waitsFor(formats.Names),
		unsized: keep.waitsFor(formats.Sizes),
	}
}

// off reports whether nothing is counted: series are disabled, or wait for allow.
func (s *series) off() bool { return s.keep.off() || s.waits }

// awaits reports whether a feature waits for allow.
func (s *series) awaits() bool { return (s.waits || s.unsaid || s.unsized) && !s.keep.off() }

// allow records that all programs that may open the store later can read a format. It returns whether counting, and
// storing the names of queues, can start now.
func (s *series) allow(format int) (counts, names bool) {
	counts = s.waits && format >= formats.Series
	s.waits = s.waits && !counts
	names = s.unsaid && format >= formats.Names
	s.unsaid = s.unsaid && !names
	s.unsized = s.unsized && format < formats.Sizes
	return counts, names
}

// Series reads the rows of a name from an instant up to but not including another, in order of time, through get. It
// needs no engine: get reads durable data. It omits rows at either end that are only partly within the time. The rows
// are without Sizes.
func Series(get func(key []byte) ([]byte, error), name string, from, to Instant) ([]Row, error) {
	return readSeries(get, name, from, to, appendBlock)
}

// SizedSeries is Series with Sizes.
func SizedSeries(get func(key []byte) ([]byte, error), name string, from, to Instant) ([]Row, error) {
	return readSeries(get, name, from, to, appendSizedBlock)
}

func readSeries(
	get func(key []byte) ([]byte, error), name string, from, to Instant,
	appendRows func(rows []Row, n int, start Instant, b []byte) ([]Row, error),
) ([]Row, error) {
	var out []Row
	upTo := to // coarser rows are used only where there are no finer ones
	for n, l := range levels {
		var rows []Row
		for start := l.startOf(max(0, from)); start < upTo; start += l.length {
			b, err := get(blockKey(n, start, name))
			if err != nil {
				return nil, fmt.Errorf("series of %s: %w", name, err)
			}
			if b == nil {
				continue
			}
			some, err := appendRows(make([]Row, 0, 64), n, start, b)
			if err != nil {
				return nil, fmt.Errorf("series of %s: %w", name, err)
			}
			rows = append(rows, some...)
		}
		rows = slices.DeleteFunc(rows, func(r Row) bool { return r.Time < from || r.Time+l.step > upTo })
		if len(rows) > 0 {
			out = append(rows, out...)
		}
		if len(out) > 0 {
			upTo = min(upTo, l.startOf(out[0].Time))
		}
	}
	return out, nil
}

// SeriesName is a name that has rows.
type SeriesName struct {
	Name string
	Last Instant // there is no row of an hour after it
	Fair bool    // the rows have the gauges of noisy and quiet groups
}

// NamesAtOnce is the maximum number of names that one call of SeriesNames returns.
const NamesAtOnce = 2000

// SeriesNames reads, in order, the names after another name that begin with a prefix and have rows since an instant,
// give or take an hour. If it returns NamesAtOnce names, there may be more.
func SeriesNames(r Reader, prefix, after string, since Instant) ([]SeriesName, error) {
	var out []SeriesName
	var bad error
	lo := nameKey(max(prefix, after))
	_, hi := tableRange(shared, tableName)
	err := r.Scan(lo, hi, func(k, v []byte) bool {
		name := string(k[keyOf0:])
		if !strings.HasPrefix(name, prefix) {
			return false
		}
		if name == after {
			return true
		}
		var n seriesName
		if n, bad = decodeSeriesName(v); bad == nil && n.last+levels[0].length > since {
			out = append(out, SeriesName{name, n.last, n.fair})
		}
		return bad == nil && len(out) < NamesAtOnce
	})
	if err := firstError(err, bad); err != nil {
		return nil, fmt.Errorf("names of series: %w", err)
	}
	return out, nil
}

// Happened reads the totals of all counters by name, as far as rows remain: from the rows and the running minutes,
// including those of deleted queues, which have no config. The counters of topics have the numbers of TopicMetric.
func Happened(r Reader, configs []Config) (map[string][Metrics]int64, error) {
	out := make(map[string][Metrics]int64)
	for after, more := "", true; more; {
		names, err := SeriesNames(r, "", after, 0)
		if err != nil {
			return nil, err
		}
		for _, n := range names {
			after = n.Name
			rows, err := Series(r.Get, n.Name, max(0, n.Last-Instant(DefaultKeep.Minutes.Milliseconds())), n.Last+hour)
			if err != nil {
				return nil, err
			}
			sum := out[n.Name]
			for i := range rows {
				for m := range sum {
					sum[m] += int64(rows[i].Values[m].Sum)
				}
			}
			out[n.Name] = sum
		}
		more = len(names) == NamesAtOnce
	}
	if err := happenedInTopics(r, out); err != nil {
		return nil, err
	}
	if err := happenedInLeftovers(r, configs, out); err != nil {
		return nil, err
	}
	for _, cfg := range configs {
		b, err := r.Get(metaKey(cfg.ID))
		if err != nil {
			return nil, fmt.Errorf("running minute of %s: %w", cfg.ARN, err)
		}
		if b == nil || cfg.Internal {
			continue
		}
		var record meta
		if err := record.decode(b); err != nil {
			return nil, fmt.Errorf("running minute of %s: %w", cfg.ARN, err)
		}
		sum := out[cfg.ARN]
		for m, n := range record.happened {
			sum[m] += n
		}
		out[cfg.ARN] = sum
	}
	return out, nil
}
