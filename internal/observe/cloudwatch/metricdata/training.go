package metricdata

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/expected"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Training describes how to learn the expected values of a statistic of a metric.
type Training struct {
	// Excluded ranges of time are not learned from.
	Excluded []Range
	// Location is the time zone in which the metric has its daily rhythm; nil: UTC.
	Location *time.Location
}

// Range is a range of time, without its end.
type Range struct{ From, To time.Time }

// training returns how to learn the expected values of a metric.
func (s *Source) training(scope series.Scope, of *Stat) Training {
	if s.Training == nil {
		return Training{}
	}
	return s.Training(scope, of)
}

// keep returns the points that are not excluded. It overwrites points.
func (t *Training) keep(points []Datapoint) []Datapoint {
	return slices.DeleteFunc(points, func(p Datapoint) bool { return t.excludes(p.Time) })
}

func (t *Training) excludes(at time.Time) bool {
	return slices.ContainsFunc(t.Excluded, func(r Range) bool { return !at.Before(r.From) && at.Before(r.To) })
}

// earlier returns the time that is n periods before another: by the clock of the time zone if the periods are days.
func (t *Training) earlier(at time.Time, n int, period time.Duration) time.Time {
	if t.Location == nil || period != day {
		return at.Add(-time.Duration(n) * period)
	}
	return at.In(t.Location).AddDate(0, 0, -n).UTC()
}

// Trained reports whether a metric has values on enough of the last days to learn from.
func (s *Source) Trained(ctx context.Context, scope series.Scope, of *Stat) (bool, error) {
	id := series.ID{Scope: scope, Namespace: of.Namespace, Metric: of.Metric, Dimensions: of.Dimensions}
	training := s.training(scope, of)
	days, end := 0, s.Now.Truncate(time.Hour)
	for n := 0; n < learnedDays && days < expected.Least; n++ {
		points, err := s.Reader.Read(ctx, id, end.Add(-day), end, time.Hour)
		if err != nil {
			return false, err
		}
		if err := budget.Of(ctx).Work(1 + len(points)); err != nil {
			return false, err
		}
		if slices.ContainsFunc(points, func(p series.Point) bool { return !training.excludes(p.Time) }) {
			days++
		}
		end = end.Add(-day)
	}
	return days >= expected.Least, nil
}
