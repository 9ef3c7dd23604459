//go:build faults

package server

import (
	"os"
	"strings"
	"sync"
	"time"
)

// machineShift is by how much the machine's clock is to be wrong: what is in the file
// that SLUICE_CLOCK_FAULTS names, a duration, such as -3s. It is for torturing
// servers, and only in those that are built with -tags faults.
var machineShift = (&brokenClock{file: os.Getenv("SLUICE_CLOCK_FAULTS")}).shift

type brokenClock struct {
	file string

	mu   sync.Mutex
	read time.Time // when the file was, last
	off  time.Duration
}

func (c *brokenClock) shift() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if now.Sub(c.read) > 50*time.Millisecond {
		c.read = now
		text, err := os.ReadFile(c.file)
		if off, bad := time.ParseDuration(strings.TrimSpace(string(text))); err == nil && bad == nil {
			c.off = off
		}
	}
	return c.off
}
