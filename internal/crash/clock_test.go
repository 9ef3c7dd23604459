package crash

import (
	"sync/atomic"
	"time"
)

// clock is the time of a run.
type clock interface {
	now() time.Duration
	sleep(time.Duration)
}

// wallClock is the machine's.
type wallClock struct{ began time.Time }

func (c wallClock) now() time.Duration    { return time.Since(c.began) }
func (c wallClock) sleep(d time.Duration) { time.Sleep(d) }

// leapClock passes time without taking any. No two readings of it are the same,
// so that it tells what came first.
type leapClock struct {
	began   time.Time
	elapsed atomic.Int64
}

func (c *leapClock) now() time.Duration {
	return time.Duration(c.elapsed.Add(int64(time.Microsecond)))
}
func (c *leapClock) sleep(d time.Duration) { c.elapsed.Add(int64(d)) }

// time is what a shard takes for the machine's clock.
func (c *leapClock) time() time.Time { return c.began.Add(time.Duration(c.elapsed.Load())) }
