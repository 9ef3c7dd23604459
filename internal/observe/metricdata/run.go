package metricdata

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/insights"
	"github.com/sluicemq/sluice/internal/observe/metricmath"
	"github.com/sluicemq/sluice/internal/observe/series"
)

// maxPoints is how many points the metrics of one list may have in the window together.
const maxPoints = 500_000

// Result is the answer to a query; one that selects several series has several.
type Result struct {
	ID     string
	Label  string
	Points []Datapoint // oldest first

	plain string // the label without one that was asked for
	found *found // what it is of, if a search has found it
}

// Datapoint is a value of an answer.
type Datapoint struct {
	Time  time.Time
	Value float64
	Count float64 // of samples, if they are those of one series
}

// Source is what queries are answered from.
type Source struct {
	Reader series.Reader
	// UnitOf returns the unit of a series, or "" if it is not known.
	UnitOf func(series.ID) string
	Levels series.Levels
	Now    time.Time
}

// Run answers the queries of a plan for a window of time, in the order of the queries. Errors that are not the reader's are
// an *Error.
func (p *Plan) Run(ctx context.Context, src *Source, scope series.Scope, from, to time.Time) ([]Result, error) {
	start, _ := Align(src.Levels, src.Now, from, series.Minute)
	r := &run{
		Source: src, scope: scope, from: from, to: to, results: make([][]Result, len(p.queries)), left: maxPoints,
		env: metricmath.Env{
			Start: start.Unix(), End: to.Unix(), Values: make(map[string]metricmath.Value, len(p.queries)),
		},
	}
	for i := range p.queries {
		if err := r.answer(ctx, i, &p.queries[i]); err != nil {
			return nil, err
		}
	}
	var out []Result
	for _, at := range p.order {
		if q := &p.queries[at]; q.Return {
			for _, result := range r.results[at] {
				result.Label = q.fill(result.Label, &result, scope.Region, scope.Account)
				out = append(out, result)
			}
		}
	}
	return out, nil
}

// run is one run of a plan.
type run struct {
	*Source
	scope    series.Scope
	from, to time.Time
	env      metricmath.Env
	results  [][]Result // of the plan's queries
	left     int        // points that may still be read
}

func (r *run) answer(ctx context.Context, i int, q *planned) (err error) {
	switch {
	case q.Stat != nil:
		r.results[i], err = r.stat(ctx, q)
	case q.insights != nil:
		r.results[i], err = r.selected(ctx, q)
	default:
		r.results[i], err = r.expression(ctx, q)
	}
	return err
}

// read returns the points of a series.
func (r *run) read(ctx context.Context, q *planned, id series.ID, period time.Duration) ([]series.Point, error) {
	from, ok := Align(r.Levels, r.Now, r.from, period)
	if !ok || !from.Before(r.to) {
		return nil, nil
	}
	if r.left -= int(r.to.Sub(from)/period) + 1; r.left < 0 {
		return nil, wrong(q.ID, "the request asks for more than %d datapoints; shorten the time range or lengthen the period", maxPoints)
	}
	return r.Reader.Read(ctx, id, from, r.to, period)
}

// Align returns where the periods of an answer begin, whose window begins at from: at a minute, or at a multiple of what is
// still kept of that age. If that is not a part of the period there is no answer.
func Align(levels series.Levels, now, from time.Time, period time.Duration) (time.Time, bool) {
	level, ok := levels.At(now.Sub(from))
	if !ok { // what is left of the window is read by the hour
		level = levels[len(levels)-1]
	}
	return from.UTC().Truncate(level.Step), period%level.Step == 0
}

func (r *run) stat(ctx context.Context, q *planned) ([]Result, error) {
	id := series.ID{Scope: r.scope, Namespace: q.Stat.Namespace, Metric: q.Stat.Metric, Dimensions: q.Stat.Dimensions}
	result := Result{ID: q.ID, Label: cmp.Or(q.Label, q.Stat.Metric), plain: q.Stat.Metric}
	if q.Stat.Unit == "" || q.Stat.Unit == r.UnitOf(id) {
		points, err := r.read(ctx, q, id, q.Stat.Period)
		if err != nil {
			return nil, err
		}
		for _, p := range points {
			v, err := q.statistic.Of(p)
			if err != nil {
				return nil, wrong(q.ID, "%s", err)
			}
			result.Points = append(result.Points, Datapoint{p.Time, v, p.Count})
		}
	}
	s := toMath(result, q.Stat.Period)
	r.env.Values[q.ID] = metricmath.Of(s)
	r.env.Metrics = append(r.env.Metrics, metricmath.Metric{ID: q.ID, Series: s})
	return []Result{result}, nil
}

func (r *run) selected(ctx context.Context, q *planned) ([]Result, error) {
	ids, err := r.Reader.List(ctx, series.Filter{Scope: r.scope, Namespace: q.insights.Namespace, Metric: q.insights.Metric, Since: r.from})
	if err != nil {
		return nil, err
	}
	var groups []insights.Result
	for _, g := range q.insights.Groups(ids) {
		lists := make([][]series.Point, 0, len(g.IDs))
		for _, id := range g.IDs {
			points, err := r.read(ctx, q, id, q.Period)
			if err != nil {
				return nil, err
			}
			lists = append(lists, points)
		}
		groups = append(groups, insights.Result{Label: g.Label, Points: insights.Merge(lists)})
	}
	var results []Result
	var all []metricmath.Series
	for _, g := range q.insights.Top(groups) {
		result := Result{ID: q.ID, Label: g.Label, plain: g.Label}
		if q.Label != "" {
			result.Label = q.Label
			if len(q.insights.GroupBy) > 0 {
				result.Label += " " + g.Label
			}
		}
		for _, p := range g.Points {
			result.Points = append(result.Points, Datapoint{p.Time, q.insights.Statistic.Of(p), p.Count})
		}
		results = append(results, result)
		all = append(all, toMath(result, q.Period))
	}
	if len(q.insights.GroupBy) > 0 {
		r.env.Values[q.ID] = metricmath.ListOf(all)
		return results, nil
	}
	if len(results) == 0 {
		results = []Result{{ID: q.ID, Label: cmp.Or(q.Label, q.insights.Metric), plain: q.insights.Metric}}
		all = []metricmath.Series{toMath(results[0], q.Period)}
	}
	r.env.Values[q.ID] = metricmath.Of(all[0])
	return results, nil
}

func (r *run) expression(ctx context.Context, q *planned) ([]Result, error) {
	r.env.Searches = make(map[*metricmath.Search]metricmath.Value, len(q.searches))
	for i := range q.searches {
		v, err := r.search(ctx, q, &q.searches[i])
		if err != nil {
			return nil, err
		}
		r.env.Searches[q.searches[i].of] = v
	}
	v, err := q.math.Evaluate(&r.env)
	if err != nil {
		return nil, wrong(q.ID, "%s", err)
	}
	if v.Kind == metricmath.Number && q.Return {
		return nil, wrong(q.ID, "it results in a number, and an answer has time series; use TIME_SERIES to make one of it")
	}
	r.env.Values[q.ID] = v
	results := make([]Result, 0, len(v.Series))
	for _, s := range v.Series {
		label, plain := cmp.Or(q.Label, q.ID), q.ID
		if v.Kind == metricmath.List && s.Label != "" {
			plain = s.Label
			switch {
			case q.Label == "":
				label = s.Label
			case s.Of == nil || !strings.Contains(q.Label, "${"): // which tells the series of a search apart itself
				label = q.Label + " " + s.Label
			}
		}
		result := Result{ID: q.ID, Label: label, plain: plain, Points: make([]Datapoint, len(s.Samples))}
		result.found, _ = s.Of.(*found)
		for i, p := range s.Samples {
			result.Points[i] = Datapoint{Time: time.Unix(p.Time, 0).UTC(), Value: p.Value}
		}
		results = append(results, result)
	}
	return results, nil
}

func toMath(r Result, period time.Duration) metricmath.Series {
	s := metricmath.Series{Label: r.Label, Period: int64(period / time.Second), Samples: make([]metricmath.Sample, len(r.Points))}
	for i, p := range r.Points {
		s.Samples[i] = metricmath.Sample{Time: p.Time.Unix(), Value: p.Value}
	}
	return s
}

// Reverse puts the points of results newest first.
func Reverse(results []Result) {
	for i := range results {
		slices.Reverse(results[i].Points)
	}
}
