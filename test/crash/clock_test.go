package crash

import (
	"sync/atomic"
	"time"
)

// leapClock passes time without taking any. No two readings of it are the same,
// so that it tells what came first.
type leapClock struct {
	began   time.Time
	elapsed atomic.Int64
}

func (c *leapClock) Now() time.Duration {
	return time.Duration(c.elapsed.Add(int64(time.Microsecond)))
}
func (c *leapClock) Sleep(d time.Duration) { c.elapsed.Add(int64(d)) }

// time is what a shard takes for the machine's clock.
func (c *leapClock) time() time.Time { return c.began.Add(time.Duration(c.elapsed.Load())) }
