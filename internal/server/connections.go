package server

import "fmt"

// DefaultConnections is how many connections there may be at a time if the operator does not say otherwise and the
// process may have that many files open.
const DefaultConnections = 20_000

// filesOfStores is how many files the two stores keep open at most, and some for everything else.
const filesOfStores = 2*1000 + 200

// connections returns how many connections there may be at a time for a process that may have so many files open, if
// that is known.
func (c *Config) connections(files uint64, known bool) (int, error) {
	if !known {
		files = 1 << 30
	}
	files = min(files, 1<<30)
	most := int(files) - filesOfStores
	if c.MaxConnections > max(0, most) {
		return 0, fmt.Errorf(
			"--max-connections %d: with %d files that the process may have open (ulimit -n), of which it needs %d for itself, want at most %d",
			c.MaxConnections,
			files,
			filesOfStores,
			max(0, most),
		)
	}
	if c.MaxConnections > 0 {
		return c.MaxConnections, nil
	}
	// With few files the stores make do with fewer than they might have.
	return min(max(most, int(files/2)), DefaultConnections), nil
}
