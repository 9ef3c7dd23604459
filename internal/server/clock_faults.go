//go:build clockfaults

package server

import (
	"os"
	"strings"
	"sync"
	"time"
)

// machineClock is the machine's clock, off by what is in the file that
// SLUICE_CLOCK_FAULTS names: a duration, such as -3s. It is for torturing servers,
// and only in those that are built with -tags clockfaults.
var machineClock = (&brokenClock{file: os.Getenv("SLUICE_CLOCK_FAULTS")}).now

type brokenClock struct {
	file string

	mu   sync.Mutex
	read time.Time // when the file was, last
	off  time.Duration
}

func (c *brokenClock) now() time.Time {
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
	return now.Add(c.off)
}
