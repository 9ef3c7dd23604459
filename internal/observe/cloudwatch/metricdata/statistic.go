package metricdata

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
)

// Statistics are the statistics that every point has, in CloudWatch's order.
var Statistics = []string{"SampleCount", "Average", "Sum", "Minimum", "Maximum"}

// Statistic is a statistic that can be computed of a point: one of Statistics, or an extended one, for which the
// samples of the point have to be known:
//
//	p99, p99.9                  the percentile: the lowest value that so many percent of the samples do not exceed
//	TM(10%:90%), TM(150:1000)   the mean of the samples in a range, the trimmed mean; tm90 is TM(:90%), IQM is TM(25%:75%)
//	WM(...), wm90               the winsorized mean: samples outside the range count as its nearest edge
//	TC(...), tc90               how many samples are in the range
//	TS(...), ts90               their sum
//	PR(100:300)                 how many percent of the samples have values in the range
//
// A range of percentages is of samples in order of value, one of numbers is of values: above the first and up to the
// second.
type Statistic struct {
	name      string
	kind      kind
	low, high float64 // percentages or values
	values    bool    // they are values
}

type kind string

const (
	basic          kind = ""
	percentile     kind = "p"
	trimmedMean    kind = "TM"
	winsorizedMean kind = "WM"
	trimmedCount   kind = "TC"
	trimmedSum     kind = "TS"
	percentileRank kind = "PR"
)

const (
	percent = `(\d{1,2}(?:\.\d{1,10})?|100(?:\.0{1,10})?)`
	number  = `(-?\d{1,15}(?:\.\d{1,10})?)`
)

var (
	short         = regexp.MustCompile(`^(p|tm|wm|tc|ts)` + percent + `$`)
	ofPercent     = regexp.MustCompile(`^(TM|WM|TC|TS)\((?:` + percent + `%)?:(?:` + percent + `%)?\)$`)
	ofValues      = regexp.MustCompile(`^(TM|WM|TC|TS|PR)\(` + number + `?:` + number + `?\)$`)
	unbounded     = float64(1 << 62)
	interquartile = Statistic{name: "IQM", kind: trimmedMean, low: 25, high: 75}
)

// ParseStatistic parses the name of a statistic.
func ParseStatistic(name string) (Statistic, bool) {
	if slices.Contains(Statistics, name) {
		return Statistic{name: name}, true
	}
	if name == interquartile.name {
		return interquartile, true
	}
	s := Statistic{name: name}
	if m := short.FindStringSubmatch(name); m != nil {
		s.kind, s.high = kind(strings.ToUpper(m[1])), parse(m[2], 0)
		if m[1] == string(percentile) {
			s.kind = percentile
		}
		return s, true
	}
	if m := ofPercent.FindStringSubmatch(name); m != nil {
		s.kind, s.low, s.high = kind(m[1]), parse(m[2], 0), parse(m[3], 100)
		return s, m[2]+m[3] != "" && s.low < s.high
	}
	if m := ofValues.FindStringSubmatch(name); m != nil {
		s.kind, s.low, s.high, s.values = kind(m[1]), parse(m[2], -unbounded), parse(m[3], unbounded), true
		return s, m[2]+m[3] != "" && s.low < s.high
	}
	return s, false
}

// parse parses a number in digits, or returns a default if there is none.
func parse(text string, none float64) float64 {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return none
	}
	return n
}

// IsExtended reports whether the statistic is not one of Statistics.
func (s Statistic) IsExtended() bool { return s.kind != basic }

func (s Statistic) String() string { return s.name }

// Enough returns the minimum number of samples for a meaningful percentile; 0 for other statistics.
func (s Statistic) Enough() float64 {
	switch {
	case s.kind != percentile || s.high == 0 || s.high == 100:
		return 0
	case s.high < 50:
		return 1000 / s.high
	default:
		return 1000 / (100 - s.high)
	}
}

// Of returns the statistic of a point, or false if it is unknown.
func (s Statistic) Of(p series.Point) (float64, bool) {
	switch {
	case s.kind != basic:
		return s.ofSamples(p)
	case s.name == "SampleCount":
		return p.Count, true
	case s.name == "Average":
		return p.Average(), true
	case s.name == "Sum":
		return p.Sum, true
	case s.name == "Minimum":
		return p.Min, true
	}
	return p.Max, true
}

// ofSamples returns an extended statistic.
func (s Statistic) ofSamples(p series.Point) (float64, bool) {
	switch {
	case s.kind == percentile && s.high == 0:
		return p.Min, true
	case s.kind == percentile && s.high == 100:
		return p.Max, true
	case p.Samples == nil:
		return 0, false
	}
	all := between(p.Samples.Values(), p.Min, p.Max)
	switch s.kind {
	case percentile:
		return valueAt(all, s.high), true
	case winsorizedMean:
		return s.winsorized(all), true
	}
	count, sum := s.within(all)
	switch s.kind {
	case trimmedCount:
		return count, true
	case trimmedSum:
		return sum, true
	case percentileRank:
		return 100 * count / total(all), true
	}
	return sum / count, count > 0
}

// between returns values within a range. Those of a histogram are not exact.
func between(all []sketch.Value, low, high float64) []sketch.Value {
	out := slices.Clone(all)
	for i := range out {
		out[i].Value = min(max(out[i].Value, low), high)
	}
	return out
}

func total(all []sketch.Value) (n float64) {
	for _, v := range all {
		n += v.Count
	}
	return n
}

// valueAt returns the lowest value that the given percentage of the samples does not exceed.
func valueAt(all []sketch.Value, percent float64) float64 {
	rank, n := total(all)*percent/100, 0.0
	for _, v := range all {
		if n += v.Count; n >= rank*(1-1e-12) {
			return v.Value
		}
	}
	return all[len(all)-1].Value
}

// within returns the number of samples in the range, and their sum. A sample at the edge of a range of percentages may
// count in part.
func (s Statistic) within(all []sketch.Value) (count, sum float64) {
	from, to, n := total(all)*s.low/100, total(all)*s.high/100, 0.0
	for _, v := range all {
		in := v.Count
		switch {
		case !s.values:
			in = max(0, min(n+v.Count, to)-max(n, from))
		case v.Value <= s.low || v.Value > s.high:
			in = 0
		}
		n += v.Count
		count, sum = count+in, sum+in*v.Value
	}
	return count, sum
}

// winsorized returns the mean in which samples outside the range count as its nearest edge.
func (s Statistic) winsorized(all []sketch.Value) float64 {
	low, high := s.low, s.high
	if !s.values {
		low, high = valueAt(all, s.low), valueAt(all, s.high)
	}
	var sum float64
	for _, v := range all {
		sum += v.Count * min(max(v.Value, low), high)
	}
	return sum / total(all)
}

// ofAll returns the statistic of each point that has it.
func (s Statistic) ofAll(points []series.Point) []Datapoint {
	out := make([]Datapoint, 0, len(points))
	for _, p := range points {
		if v, ok := s.Of(p); ok {
			out = append(out, Datapoint{p.Time, v, p.Count})
		}
	}
	return out
}
