package main

import (
	"math"
	"slices"
)

// axis is one of the two axes of a chart.
type axis struct {
	name string
	log  bool
	text func(float64) string // of a tick
}

// scale maps values from low to high to lengths from a to b.
type scale struct {
	low, high float64
	a, b      float64
	log       bool
}

func (s scale) at(v float64) float64 {
	low, high := s.low, s.high
	if s.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	if high == low {
		return (s.a + s.b) / 2
	}
	return s.a + (v-low)/(high-low)*(s.b-s.a)
}

// roundTicks returns round values of which the first and the last enclose the data, from 0 on if the scale is not
// logarithmic.
func (a axis) roundTicks(low, high float64) []float64 {
	if a.log {
		return logTicks(low, high)
	}
	step := 1.0
	if high > 0 {
		step = atLeast(high / 5)
	}
	ticks := []float64{0}
	for n := 1; ticks[len(ticks)-1] < high; n++ {
		ticks = append(ticks, float64(n)*step)
	}
	return ticks
}

// logTicks are 1, 2, 5, 10 and so on, or only powers of ten where these would
// be too many.
func logTicks(low, high float64) []float64 {
	var ticks []float64
	for t := atMost(low); ; t = atLeast(t * 1.5) {
		if ticks = append(ticks, t); t >= high && len(ticks) > 1 {
			break
		}
	}
	if len(ticks) <= 9 {
		return ticks
	}
	exponent := math.Floor(math.Log10(low))
	ticks = []float64{powerOfTen(exponent)}
	for ticks[len(ticks)-1] < high {
		exponent++
		ticks = append(ticks, powerOfTen(exponent))
	}
	return ticks
}

// atLeast returns the least of 1, 2, 5, 10 and so on that is not below v.
func atLeast(v float64) float64 {
	exponent := math.Floor(math.Log10(v))
	for _, digit := range []float64{1, 2, 5} {
		if t := digit * powerOfTen(exponent); t >= v {
			return t
		}
	}
	return powerOfTen(exponent + 1)
}

// atMost returns the greatest of them that is not above v.
func atMost(v float64) float64 {
	exponent := math.Floor(math.Log10(v))
	for _, digit := range []float64{5, 2} {
		if t := digit * powerOfTen(exponent); t <= v {
			return t
		}
	}
	return powerOfTen(exponent)
}

// powerOfTen is exact where math.Pow need not be, so that ticks print as 0.1.
func powerOfTen(exponent float64) float64 {
	if exponent < 0 {
		return 1 / math.Pow(10, -exponent)
	}
	return math.Pow(10, exponent)
}

// positions returns the places at which something was measured.
func positions(lines []line) []float64 {
	var xs []float64
	for _, l := range lines {
		for _, d := range l.dots {
			xs = append(xs, d.x)
		}
	}
	slices.Sort(xs)
	return slices.Compact(xs)
}
