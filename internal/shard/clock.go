package shard

import (
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// clock is the shard's time. It follows the machine's, forwards: when the
// machine's is set back, the shard's goes on from where it was at its usual
// pace, so that no timeout stands still and no message seems to come from
// before the one in front of it.
type clock struct {
	now  func() time.Time
	read time.Time // when it was last read
	at   time.Time // what it said
}

func newClock(now func() time.Time, least queue.Instant) *clock {
	c := &clock{now: now, read: now()}
	c.at = c.read
	if t := least.Time(); t.After(c.at) {
		c.at = t
	}
	return c
}

func (c *clock) time() queue.Instant {
	read := c.now()
	at := c.at.Add(max(0, read.Sub(c.read))) // by the monotonic clock, if there is one
	if wall := read.Round(0); wall.After(at) {
		at = wall
	}
	c.read, c.at = read, at
	return queue.At(at)
}
