package shard

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// clock is the time of a shard. It follows the clock of the machine forwards only. When the machine's clock is set
// back, the shard's clock continues at its usual pace. So no timeout stalls, and no message is older than the one
// before it.
type clock struct {
	now   func() time.Time
	shift func() time.Duration // the correction of the machine's clock
	read  time.Time            // when it was last read
	at    time.Time            // the time that it showed
}

func newClock(now func() time.Time, shift func() time.Duration, least queue.Instant) *clock {
	if shift == nil {
		shift = func() time.Duration { return 0 }
	}
	c := &clock{now: now, shift: shift, read: now()}
	c.at = c.read.Add(shift())
	if t := least.Time(); t.After(c.at) {
		c.at = t
	}
	return c
}

func (c *clock) time() queue.Instant {
	read := c.now()
	at := c.at.Add(max(0, read.Sub(c.read))) // by the monotonic clock, if there is one
	// A temporary shift does not make time pass.
	if wall := read.Round(0).Add(c.shift()); wall.After(at) {
		at = wall
	}
	c.read, c.at = read, at
	return queue.At(at)
}
