package workload

import "time"

// Clock is the time of a run.
type Clock interface {
	Now() time.Duration
	Sleep(time.Duration)
}

// WallClock is the machine's clock. Its value is the beginning of the run.
type WallClock struct{ Began time.Time }

// Now is how long the run has lasted.
func (c WallClock) Now() time.Duration { return time.Since(c.Began) }

// Sleep waits.
func (c WallClock) Sleep(d time.Duration) { time.Sleep(d) }
