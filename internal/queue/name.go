package queue

import "fmt"

// seriesName is what is known of the series of a name. It is written when a block of
// minutes begins, so that the names of what was active lately are found without looking at
// blocks.
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

// seriesName returns what is known of a name, or nothing.
func (e *Engine) seriesName(name string) (seriesName, error) {
	b, err := e.tx.Get(nameKey(name))
	if b == nil || err != nil {
		return seriesName{}, err
	}
	return decodeSeriesName(b)
}

// writeRow adds the row of a minute to the series of a name.
func (e *Engine) writeRow(name string, row Row, fair bool) error {
	start := levels[0].startOf(row.Time)
	known, err := e.seriesName(name)
	if err != nil {
		return fmt.Errorf("series of %s: %w", name, err)
	}
	if known.last < start || fair && !known.fair {
		e.tx.Set(nameKey(name), seriesName{max(known.last, start), known.fair || fair}.encode())
	}
	if start < e.aging.oldest[0] {
		e.aging.oldest[0] = start
		e.scheduleAging()
	}
	e.forceWrite = true // with the clock: no minute must come again
	return e.addRows(0, name, row)
}
