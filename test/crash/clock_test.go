package crash

import (
	"sync/atomic"
	"time"
)

// leapClock lets time pass instantly. No two readings of it are the same, so they show the order of events.
type leapClock struct {
	began   time.Time
	elapsed atomic.Int64
}

func (c *leapClock) Now() time.Duration {
	return time.Duration(c.elapsed.Add(int64(time.Microsecond)))
}
func (c *leapClock) Sleep(d time.Duration) { c.elapsed.Add(int64(d)) }

// time is the shard's view of the machine's clock.
func (c *leapClock) time() time.Time { return c.began.Add(time.Duration(c.elapsed.Load())) }
