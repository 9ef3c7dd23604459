//go:build faults

package server

import (
	"os"
	"strings"
	"sync"
	"time"
)

// machineShift returns the test error of the machine's clock: the duration in the file that SLUICE_CLOCK_FAULTS names,
// such as -3s. It exists only in servers built with -tags faults, for torture tests.
var machineShift = (&brokenClock{file: os.Getenv("SLUICE_CLOCK_FAULTS")}).shift

type brokenClock struct {
	file string

	mu   sync.Mutex
	read time.Time // the file's last modification time
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
