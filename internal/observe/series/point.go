package series

import (
	"math"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/observe/sketch"
)

// Point is what a metric was from Time on, for the length of a period.
type Point struct {
	Time  time.Time // in UTC
	Count float64   // of samples; SampleCount to CloudWatch
	Sum   float64
	Min   float64
	Max   float64
	// Samples are what the samples were; nil if that was not asked for, see Reader.ReadSamples, or is not known.
	Samples *sketch.Sketch
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

// WithSamples returns the point with its samples. They follow from the point if all have one value; otherwise known are
// they, if these are as many as the point has. Samples below zero are not known, as on AWS.
func (p Point) WithSamples(known *sketch.Sketch) Point {
	p.Samples = nil
	switch {
	case p.Min < 0 || p.Count <= 0:
	case p.Min == p.Max && same(p.Sum, p.Count*p.Min):
		p.Samples = sketch.Of(sketch.Value{Value: p.Min, Count: p.Count})
	case known != nil && same(known.Count(), p.Count):
		p.Samples = known
	}
	return p
}

// same reports whether two sums are the same but for how they were rounded.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Abs(b) }

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
	p.Samples = p.Samples.Merge(q.Samples)
	return p
}

// PointBytes is how much memory a point takes.
const PointBytes = int(unsafe.Sizeof(Point{}))

// SampleBytes is how much memory the samples of points take, about.
func SampleBytes(points []Point) (n int) {
	for i := range points {
		n += points[i].Samples.Bytes()
	}
	return n
}

// Group merges points, which are in order of time, into points of a period. The periods
// begin at from; one without samples is left out. The result takes the place of points.
func Group(points []Point, from time.Time, period time.Duration) []Point {
	out := points[:0]
	for _, p := range points {
		out = AppendGroup(out, p, from, period)
	}
	return out
}

// AppendGroup adds a point to points of a period, none of which is after it; see Group.
func AppendGroup(out []Point, p Point, from time.Time, period time.Duration) []Point {
	p.Time = from.Add(p.Time.Sub(from) / period * period).UTC()
	if n := len(out); n > 0 && out[n-1].Time.Equal(p.Time) {
		out[n-1] = out[n-1].Merge(p)
		return out
	}
	return append(out, p)
}
