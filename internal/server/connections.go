package server

import "fmt"

// DefaultConnections is the default limit of simultaneous connections, if the process may open that many files.
const DefaultConnections = 20_000

// filesOfStores is the maximum number of files that the two stores keep open, plus a reserve for all other files.
const filesOfStores = 2*1000 + 200

// connections returns the limit of simultaneous connections for a process that may open the given number of files, if
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
	// With few files, the stores use fewer than their maximum.
	return min(max(most, int(files/2)), DefaultConnections), nil
}
