package series

import (
	"math"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
)

// Point holds the statistics of a metric from Time on, for the length of a period.
type Point struct {
	Time  time.Time // in UTC
	Count float64   // of samples; SampleCount to CloudWatch
	Sum   float64
	Min   float64
	Max   float64
	// Samples holds the samples. It is nil if they were not requested, see Reader.ReadSamples, or are unknown.
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

// WithSamples returns the point with its samples. If all have one value, they follow from the point; otherwise they are
// known, if their number equals that of the point. Samples below zero are unknown, as on AWS.
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

// same reports whether two sums differ only by rounding.
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

// PointBytes is the memory of a point.
const PointBytes = int(unsafe.Sizeof(Point{}))

// SampleBytes is the approximate memory of the samples of points.
func SampleBytes(points []Point) (n int) {
	for i := range points {
		n += points[i].Samples.Bytes()
	}
	return n
}

// Group merges points, which are in order of time, into points of a period. The periods begin at from; periods without
// samples are omitted. The result overwrites points.
func Group(points []Point, from time.Time, period time.Duration) []Point {
	out := points[:0]
	for _, p := range points {
		out = AppendGroup(out, p, from, period)
	}
	return out
}

// AppendGroup adds a point to points of a period, none of which is later. See Group.
func AppendGroup(out []Point, p Point, from time.Time, period time.Duration) []Point {
	p.Time = from.Add(p.Time.Sub(from) / period * period).UTC()
	if n := len(out); n > 0 && out[n-1].Time.Equal(p.Time) {
		out[n-1] = out[n-1].Merge(p)
		return out
	}
	return append(out, p)
}
