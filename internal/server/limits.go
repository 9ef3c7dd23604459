package server

import (
	"fmt"
	"time"
)

// limits are bounds on what clients can take of the server. They are the same
// everywhere but in tests.
type limits struct {
	header   time.Duration // to send the header
	read     time.Duration // to send header and body
	write    time.Duration // from the end of the header to the end of the answer
	idle     time.Duration // between two requests
	bodies   int64         // bytes of memory for all bodies, less what comes first of each
	bodyWait time.Duration // for such memory
}

// The longest answer, to a long poll, takes 20 seconds to begin.
//
// The memory for bodies holds a hundred messages of the largest size at a time.
// On a fast network a body of that size is there for milliseconds, so more of
// them at a time would come from clients that are slow or hostile; and what is
// alive counts fourfold, as the heap grows to that before it is collected.
var defaultLimits = limits{
	header: 10 * time.Second, read: 60 * time.Second, write: 120 * time.Second, idle: 120 * time.Second,
	bodies: 128 << 20, bodyWait: 5 * time.Second,
}

const (
	maxHeader = 64 << 10
	// maxBody is the largest request taken: a batch of 1 MiB of text in which
	// every byte is escaped takes six times as much in JSON.
	maxBody = 8 << 20
	// firstRead is the memory that a request gets before anything of its body
	// has come, and the length up to which bodies are not counted.
	firstRead = 64 << 10
)

// DefaultConnections is how many connections there may be at a time if nobody
// says otherwise and the process may have that many files open.
const DefaultConnections = 20_000

// filesOfStores is how many files the two stores keep open at most, and some for
// everything else.
const filesOfStores = 2*1000 + 200

// connections returns how many connections there may be at a time for a process
// that may have so many files open, if that is known.
func (c *Config) connections(files uint64, known bool) (int, error) {
	if !known {
		files = 1 << 30
	}
	files = min(files, 1<<30)
	most := int(files) - filesOfStores
	if c.MaxConnections > max(0, most) {
		return 0, fmt.Errorf("--max-connections %d: with %d files that the process may have open (ulimit -n), of which it needs %d for itself, want at most %d",
			c.MaxConnections, files, filesOfStores, max(0, most))
	}
	if c.MaxConnections > 0 {
		return c.MaxConnections, nil
	}
	// With few files the stores make do with fewer than they might have.
	return min(max(most, int(files/2)), DefaultConnections), nil
}
