package metricdata

import (
	"errors"
	"regexp"

	"github.com/sluicemq/sluice/internal/observe/series"
)

// Statistics are those that every point has, in CloudWatch's order.
var Statistics = []string{"SampleCount", "Average", "Sum", "Minimum", "Maximum"}

// ErrInexact says that a percentile does not follow from what is kept of the samples.
var ErrInexact = errors.New("of the samples of a minute only their number, sum, minimum and maximum are kept, from which this percentile does not follow; " +
	"use Average or Maximum, or a metric with one sample a period")

// Statistic is a statistic that can be computed of a point.
type Statistic struct {
	name       string
	percentile bool
}

var percentile = regexp.MustCompile(`^p(\d{1,2}(\.\d{1,10})?|100)$`)

// ParseStatistic reads the name of a statistic or of a percentile.
func ParseStatistic(name string) (Statistic, bool) {
	for _, s := range Statistics {
		if s == name {
			return Statistic{name: name}, true
		}
	}
	return Statistic{name: name, percentile: true}, percentile.MatchString(name)
}

// IsPercentile reports whether it is a percentile, which not every point has.
func (s Statistic) IsPercentile() bool { return s.percentile }

func (s Statistic) String() string { return s.name }

// Of returns the statistic of a point. The only error is ErrInexact.
func (s Statistic) Of(p series.Point) (float64, error) {
	switch s.name {
	case "SampleCount":
		return p.Count, nil
	case "Average":
		return p.Average(), nil
	case "Sum":
		return p.Sum, nil
	case "Minimum", "p0":
		return p.Min, nil
	case "Maximum", "p100":
		return p.Max, nil
	}
	if p.Min != p.Max {
		return 0, ErrInexact
	}
	return p.Min, nil
}

// ofAll returns the statistic of each point. The only error is ErrInexact.
func (s Statistic) ofAll(points []series.Point) ([]Datapoint, error) {
	out := make([]Datapoint, len(points))
	for i, p := range points {
		v, err := s.Of(p)
		if err != nil {
			return nil, err
		}
		out[i] = Datapoint{p.Time, v, p.Count}
	}
	return out, nil
}
