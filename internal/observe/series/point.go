package series

import (
	"time"
	"unsafe"
)

// Point is what a metric was from Time on, for the length of a period.
type Point struct {
	Time  time.Time // in UTC
	Count float64   // of samples; SampleCount to CloudWatch
	Sum   float64
	Min   float64
	Max   float64
}

// Sample returns a point of one sample.
func Sample(at time.Time, value float64) Point {
	return Point{Time: at.UTC(), Count: 1, Sum: value, Min: value, Max: value}
}

// Average returns the mean of the samples, or 0 if there are none.
func (p Point) Average() float64 {
	if p.Count == 0 {
		return 0
	}
	return p.Sum / p.Count
}

// Merge returns the point of the samples of both. It keeps the time of p.
func (p Point) Merge(q Point) Point {
	switch {
	case q.Count == 0:
		return p
	case p.Count == 0:
		q.Time = p.Time
		return q
	}
	p.Count += q.Count
	p.Sum += q.Sum
	p.Min = min(p.Min, q.Min)
	p.Max = max(p.Max, q.Max)
	return p
}

// PointBytes is how much memory a point takes.
const PointBytes = int(unsafe.Sizeof(Point{}))

// Group merges points, which are in order of time, into points of a period. The periods
// begin at from; one without samples is left out. The result takes the place of points.
func Group(points []Point, from time.Time, period time.Duration) []Point {
	out := points[:0]
	for _, p := range points {
		at := from.Add(p.Time.Sub(from) / period * period)
		if n := len(out); n > 0 && out[n-1].Time.Equal(at) {
			out[n-1] = out[n-1].Merge(p)
			continue
		}
		p.Time = at.UTC()
		out = append(out, p)
	}
	return out
}
