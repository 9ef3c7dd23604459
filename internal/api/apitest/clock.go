package apitest

import (
	"sync/atomic"
	"time"
)

// Clock is one that a test moves. The zero Clock shows the time of the machine.
type Clock struct{ ahead atomic.Int64 }

// Now returns the time of the clock.
func (c *Clock) Now() time.Time { return time.Now().Add(time.Duration(c.ahead.Load())) }

// Forward moves the clock.
func (c *Clock) Forward(d time.Duration) { c.ahead.Add(int64(d)) }
