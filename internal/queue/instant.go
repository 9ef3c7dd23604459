package queue

import (
	"math"
	"time"
)

// Instant is a point in time: milliseconds since 1970 in UTC, the resolution
// of every time that SQS shows.
type Instant int64

// never is later than anything that happens.
const never Instant = math.MaxInt64

// At returns t as an Instant.
func At(t time.Time) Instant { return Instant(t.UnixMilli()) }

// Time returns i as a time.Time in UTC.
func (i Instant) Time() time.Time { return time.UnixMilli(int64(i)).UTC() }

// Add returns the instant d after i.
func (i Instant) Add(d time.Duration) Instant { return i + Instant(d.Milliseconds()) }

// Sub returns the time from j to i.
func (i Instant) Sub(j Instant) time.Duration { return time.Duration(i-j) * time.Millisecond }
