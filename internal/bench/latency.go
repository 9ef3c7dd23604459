package bench

import (
	"math/bits"
	"time"
)

// latencies counts durations in buckets that grow with them: each power of two
// of microseconds is cut into 32, so that a quantile is exact to about 3%.
type latencies struct {
	counts [40 * 32]uint64
	n      uint64
	unsent uint64 // how many of n are of calls that were never made
	max    time.Duration
}

func bucketOf(d time.Duration) int {
	us := uint64(max(0, d.Microseconds()))
	if us < 32 {
		return int(us)
	}
	shift := bits.Len64(us) - 6 // leaves 32..63
	return min((shift+1)*32+int(us>>shift)-32, 40*32-1)
}

// bucketEnd is the longest duration in a bucket.
func bucketEnd(i int) time.Duration {
	if i < 32 {
		return time.Duration(i) * time.Microsecond
	}
	shift := i/32 - 1
	return time.Duration((uint64(i%32)+33)<<shift-1) * time.Microsecond
}

func (l *latencies) add(d time.Duration) {
	l.counts[bucketOf(d)]++
	l.n++
	l.max = max(l.max, d)
}

func (l *latencies) merge(o *latencies) {
	for i, c := range o.counts {
		l.counts[i] += c
	}
	l.n += o.n
	l.unsent += o.unsent
	l.max = max(l.max, o.max)
}

// quantile returns the duration that a part q of all did not exceed.
func (l *latencies) quantile(q float64) time.Duration {
	rank := uint64(q * float64(l.n))
	seen := uint64(0)
	for i, c := range l.counts {
		if seen += c; seen > rank {
			return min(bucketEnd(i), l.max)
		}
	}
	return l.max
}
