package queue

import "fmt"

// checkSeries checks a row of the two tables of series. It must be readable, and each block must have its name in the
// table of names.
func checkSeries(r Reader, k, v []byte) error {
	if k[8] == tableName {
		_, err := decodeSeriesName(v)
		return err
	}
	n, start, name, ok := splitBlockKey(k)
	if !ok || start != levels[n].startOf(start) {
		return fmt.Errorf("stray key %q", k)
	}
	rows, err := decodeBlock(n, start, v)
	if err != nil {
		return fmt.Errorf("key %q: %w", k, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("key %q: there are no rows", k)
	}
	b, err := r.Get(nameKey(name))
	if err != nil {
		return err
	}
	if b == nil {
		return fmt.Errorf("there are series of %q, which is not among the names", name)
	}
	known, err := decodeSeriesName(b) // otherwise the name's own key is reported
	if n == 0 && err == nil && known.last < start {
		return fmt.Errorf("there are rows of %q at %v, the newest are of %v by the table of names", name, start, known.last)
	}
	return nil
}
