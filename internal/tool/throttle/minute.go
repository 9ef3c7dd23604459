// Package throttle limits the rate of an action that many callers may cause, such as a line in a log.
package throttle

import (
	"sync/atomic"
	"time"
)

// Minute allows something once a minute. The zero value is ready for use, by several goroutines.
type Minute struct {
	last atomic.Int64 // when it was allowed last, in nanoseconds of Unix time; 0: never
}

// Allow reports whether a minute has passed since it last returned true.
func (m *Minute) Allow(now time.Time) bool {
	n, last := now.UnixNano(), m.last.Load()
	return (last == 0 || n-last >= int64(time.Minute)) && m.last.CompareAndSwap(last, n)
}
