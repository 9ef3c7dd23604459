package queue

import "fmt"

// seriesName is the record of a name that has series. It is written when a block of minutes begins, so that recently
// active names are found without reading blocks.
type seriesName struct {
	last Instant // when the newest block of minutes begins
	fair bool    // some rows have the gauges of fairness
}

func (n seriesName) encode() []byte {
	w := newRecord(16)
	w.Instant(n.last)
	if n.fair {
		w.Uint(1)
	} else {
		w.Uint(0)
	}
	return w.Writer
}

func decodeSeriesName(b []byte) (seriesName, error) {
	r := readRecord(b)
	n := seriesName{last: r.Instant(), fair: r.Uint() == 1}
	return n, r.done("name of series")
}

func nameKey(name string) key { return tableKey(shared, tableName).string(name) }

// name returns the record of a name, or an empty one.
func (s *series) name(name string) (seriesName, error) {
	b, err := s.tx.Get(nameKey(name))
	if b == nil || err != nil {
		return seriesName{}, err
	}
	return decodeSeriesName(b)
}

// write adds the row of a minute to the series of a name.
func (s *series) write(name string, row Row, fair bool) error {
	start := levels[0].startOf(row.Time)
	known, err := s.name(name)
	if err != nil {
		return fmt.Errorf("series of %s: %w", name, err)
	}
	if known.last < start || fair && !known.fair {
		s.tx.Set(nameKey(name), seriesName{max(known.last, start), known.fair || fair}.encode())
	}
	if start < s.aging.oldest[0] {
		s.aging.oldest[0] = start
		s.scheduleAging()
	}
	s.forceWrite = true // and with the row the clock: no minute may occur twice
	return s.addRows(0, name, row)
}
