// Package expected computes the expected values of a metric at a time, from its values at the same time of earlier
// days. AWS's model is not public; this one is simple: the median of the earlier values, and how far they typically are
// from it. Neither follows single outliers, such as those of an earlier incident.
package expected

import (
	"math"
	"slices"
)

// Least is the minimum number of earlier values.
const Least = 3

// Band returns the lower and upper edge of the expected values: the median of the earlier ones, and width deviations on
// both sides. It returns false if there are too few of them. It sorts its argument.
func Band(earlier []float64, width float64) (low, high float64, ok bool) {
	if len(earlier) < Least {
		return 0, 0, false
	}
	middle := median(earlier)
	distance := width * deviation(earlier, middle)
	return middle - distance, middle + distance, true
}

const (
	// For normally distributed values, a standard deviation is this many median or mean distances from the middle.
	ofMedian = 1.4826
	ofMean   = 1.2533
	// Values that hardly ever change are expected to stay within this part of their median.
	smallest = 0.01
)

// deviation returns how far values typically are from their median.
func deviation(values []float64, middle float64) float64 {
	var sum float64
	distances := make([]float64, len(values))
	for i, v := range values {
		distances[i] = math.Abs(v - middle)
		sum += distances[i]
	}
	typical := ofMedian * median(distances)
	if typical == 0 { // more than half of the values are the same
		typical = ofMean * sum / float64(len(values))
	}
	return max(typical, smallest*math.Abs(middle))
}

// median sorts values, and returns the middle one.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	if n%2 == 1 {
		return values[n/2]
	}
	return values[n/2-1]/2 + values[n/2]/2
}
