package metricdata

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricsearch"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	// defaultPeriod is the default period of a search, if its query has none either.
	defaultPeriod = 5 * time.Minute
	// searchedAge is the maximum age of the newest point of a metric that a search finds.
	searchedAge = 14 * 24 * time.Hour
)

// search is a SEARCH of an expression.
type search struct {
	of        *metricmath.Search
	query     *metricsearch.Query
	statistic Statistic
	period    time.Duration
}

// readSearches reads the searches of an expression.
func readSearches(q Query, of *metricmath.Expression) (out []search, err error) {
	for _, m := range of.Searches() {
		s := search{of: m, period: time.Duration(m.Period) * time.Second}
		if s.query, err = metricsearch.Parse(m.Text); err != nil {
			return nil, wrong(q.ID, "%s", err)
		}
		var ok bool
		if s.statistic, ok = ParseStatistic(m.Statistic); !ok {
			return nil, wrongStatistic(q.ID, m.Statistic)
		}
		switch {
		case s.period != 0:
		case q.Period != 0:
			s.period = q.Period
		default:
			s.period = defaultPeriod
		}
		if err := checkPeriod(q.ID, s.period); err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
}

// found is the subject of a series in a search's answer.
type found struct {
	id        series.ID
	statistic string
	period    time.Duration
}

// search reads the series that a search finds.
func (r *run) search(ctx context.Context, q *planned, s *search) (metricmath.Value, error) {
	ids, err := r.Reader.List(ctx, series.Filter{
		Scope: r.scope, Namespace: s.query.Namespace(), Since: r.Now.Add(-searchedAge),
	})
	if err != nil {
		return metricmath.Value{}, err
	}
	var found []series.ID
	for _, id := range ids {
		if err := r.request.Work(s.query.Cost(id)); err != nil {
			return metricmath.Value{}, err
		}
		if !s.query.Matches(id) {
			continue
		}
		if len(found) == metricsearch.MaxSeries {
			r.exceeded(Metrics)
			break
		}
		found = append(found, id)
	}
	return r.found(ctx, q, s, found)
}

// found reads the series that a search has found.
func (r *run) found(ctx context.Context, q *planned, s *search, ids []series.ID) (metricmath.Value, error) {
	all := make([]metricmath.Series, 0, len(ids))
	for i, label := range labels(ids) {
		result := Result{Label: label}
		var err error
		if result.Points, err = r.datapoints(ctx, ids[i], s.period, s.statistic); err != nil {
			return metricmath.Value{}, err
		}
		one := toMath(result, s.period)
		one.Of = &found{ids[i], s.of.Statistic, s.period}
		all = append(all, one)
	}
	return metricmath.ListOf(all), nil
}

// labels returns the distinguishing parts of series: the values of their dimensions, and their metrics if there are
// several.
func labels(ids []series.ID) []string {
	several := slices.ContainsFunc(ids, func(id series.ID) bool { return id.Metric != ids[0].Metric })
	out := make([]string, len(ids))
	for i, id := range ids {
		var parts []string
		for _, d := range id.Dimensions {
			parts = append(parts, d.Value)
		}
		if several || len(parts) == 0 {
			parts = append(parts, id.Metric)
		}
		out[i] = strings.Join(parts, " ")
	}
	return out
}
