package metricdata

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insights"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// Limits of the evaluated windows.
const (
	// kept is the minimum time for which the oldest points are kept.
	kept = 455 * 24 * time.Hour
	// longest is the maximum length of a window: everything that is kept, from the beginning of a day, plus a little
	// ahead.
	longest = kept + 48*time.Hour
)

// Result is the answer to a query. A query of several series has several.
type Result struct {
	ID     string
	Label  string
	Points []Datapoint // oldest first
	// Dropped means that values of an expression are missing because they are no numbers.
	Dropped bool

	plain string // the default label
	found *found // its subject, if a search has found it
}

// Name identifies the series of one query: the default label. Two series may have the same.
func (r *Result) Name() string { return r.plain }

// Datapoint is a value of an answer.
type Datapoint struct {
	Time  time.Time
	Value float64
	Count float64 // of samples, for the values of one series
}

// Source is the source of the data for queries.
type Source struct {
	Reader series.Reader
	Levels series.Levels
	Now    time.Time
	// Training returns how to learn the expected values of a metric. Nil means the same way for all.
	Training func(series.Scope, *Stat) Training
	// Zone is the time zone of times in labels; nil: UTC.
	Zone *time.Location
	// Exceeded is called for queries that find more series than they answer with. It may be nil.
	Exceeded func(Excess)
}

// Excess is the kind of thing that a query has found too many of.
type Excess int

// The things that queries find too many of.
const (
	Metrics Excess = iota // of a SEARCH
	Groups                // of a query of Metrics Insights
)

// exceeded reports that a query has found more than it answers with.
func (s *Source) exceeded(what Excess) {
	if s.Exceeded != nil {
		s.Exceeded(what)
	}
}

// Run answers the queries of a plan for a window of time, in the order of the queries. It counts the data that it reads
// and computes for the request of ctx; see package budget. Errors that are neither the reader's nor the budget's are an
// *Error.
func (p *Plan) Run(ctx context.Context, src *Source, scope series.Scope, from, to time.Time) ([]Result, error) {
	from, to = src.Bound(from, to)
	start, _ := Align(src.Levels, src.Now, from, min(p.Period(), series.Minute))
	r := &run{
		Source: src, scope: scope, from: from, to: to, results: make([][]Result, len(p.queries)),
		request: budget.Of(ctx),
		env: metricmath.Env{
			Start: start.Unix(), End: to.Unix(), Period: int64(p.Period() / time.Second),
			Values: make(map[string]metricmath.Value, len(p.queries)), Metrics: make([]metricmath.Metric, p.metrics),
		},
	}
	r.env.Meter = meter(r.request)
	for i := range p.queries {
		if err := r.answer(ctx, i, &p.queries[i]); err != nil {
			return nil, err
		}
	}
	var out []Result
	for _, at := range p.order {
		if q := &p.queries[at]; q.Return {
			for _, result := range r.results[at] {
				if err := r.request.Work(strings.Count(result.Label, "${") * len(result.Points)); err != nil {
					return nil, err
				}
				result.Label = r.fill(q, result.Label, &result)
				out = append(out, result)
			}
		}
	}
	return out, nil
}

// meter returns a request as a metricmath.Meter.
func meter(r *budget.Request) metricmath.Meter {
	if r == nil {
		return nil
	}
	return r
}

// Bound returns the part of a window that is evaluated: within what is kept and the maximum length. It begins with a
// day if that is later than from, so that periods of hours and days keep their places.
func (s *Source) Bound(from, to time.Time) (time.Time, time.Time) {
	most := max(longest, s.Levels[len(s.Levels)-1].Keep+48*time.Hour)
	oldest := s.Now.UTC().Add(48*time.Hour - most).Truncate(24 * time.Hour)
	if from.Before(oldest) {
		from = oldest
	}
	if end := from.Add(most); to.After(end) {
		to = end
	}
	return from, to
}

// run is one run of a plan.
type run struct {
	*Source
	scope    series.Scope
	from, to time.Time
	env      metricmath.Env
	results  [][]Result // of the plan's queries
	request  *budget.Request
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

// pointBytes is the memory of a point of an answer: as read, for expressions, and as a Datapoint.
const pointBytes = series.PointBytes + int(unsafe.Sizeof(metricmath.Sample{})+unsafe.Sizeof(Datapoint{}))

// datapoints returns a statistic of a series. The request is charged for the result, but not for its sources.
func (r *run) datapoints(ctx context.Context, id series.ID, period time.Duration, s Statistic) ([]Datapoint, error) {
	return r.datapointsIn(ctx, r.from, r.to, id, period, s)
}

// datapointsIn is datapoints for another window.
func (r *run) datapointsIn(
	ctx context.Context, from, to time.Time, id series.ID, period time.Duration, s Statistic,
) ([]Datapoint, error) {
	read := r.Reader.Read
	if s.IsExtended() {
		read = r.Reader.ReadSamples
	}
	points, err := r.read(ctx, from, to, id, period, read)
	if err != nil {
		return nil, err
	}
	held := series.SampleBytes(points)
	if err := r.request.Hold(held); err != nil {
		return nil, err
	}
	defer r.request.Release(held)
	if err := r.request.Work(held / sampleBytes); err != nil {
		return nil, err
	}
	return s.ofAll(points), nil
}

// sampleBytes is the memory of a value of samples.
const sampleBytes = int(unsafe.Sizeof(sketch.Value{}))

// readFunc is Read or ReadSamples of a series.Reader.
type readFunc func(ctx context.Context, id series.ID, from, to time.Time, period time.Duration) ([]series.Point, error)

// read returns the points of a series in a window, and counts them.
func (r *run) read(
	ctx context.Context, from, to time.Time, id series.ID, period time.Duration, read readFunc,
) ([]series.Point, error) {
	from, ok := Align(r.Levels, r.Now, from, period)
	if !ok || !from.Before(to) {
		return nil, nil
	}
	held := (int(to.Sub(from)/period) + 1) * pointBytes
	if err := r.request.Hold(held); err != nil {
		return nil, err
	}
	points, err := read(ctx, id, from, to, period)
	r.request.Release(held - len(points)*pointBytes)
	return points, err
}

// Align returns where the periods of an answer begin, whose window begins at from: at a minute, or at a multiple of
// what is still kept of that age, or of a period below a minute. If what is kept is not a part of the period there is
// no answer.
func Align(levels series.Levels, now, from time.Time, period time.Duration) (time.Time, bool) {
	if period < series.Minute {
		return from.UTC().Truncate(period), true
	}
	level, ok := levels.At(now.Sub(from))
	if !ok { // what is left of the window is read by the hour
		level = levels[len(levels)-1]
	}
	return from.UTC().Truncate(level.Step), period%level.Step == 0
}

func (r *run) stat(ctx context.Context, q *planned) ([]Result, error) {
	id := series.ID{
		Scope: r.scope, Namespace: q.Stat.Namespace, Metric: q.Stat.Metric, Dimensions: q.Stat.Dimensions,
		Unit: q.Stat.Unit,
	}
	result := Result{ID: q.ID, Label: cmp.Or(q.Label, q.plain), plain: q.plain}
	var err error
	if result.Points, err = r.datapoints(ctx, id, q.Stat.Period, q.statistic); err != nil {
		return nil, err
	}
	s := toMath(result, q.Stat.Period)
	r.env.Values[q.ID] = metricmath.Of(s)
	r.env.Metrics[q.metric] = metricmath.Metric{ID: q.ID, Series: s}
	return []Result{result}, nil
}

func (r *run) selected(ctx context.Context, q *planned) ([]Result, error) {
	groups, err := r.groups(ctx, q)
	if err != nil {
		return nil, err
	}
	var results []Result
	if q.insights.Limit == insights.MaxLimit && len(groups) > insights.MaxLimit {
		r.exceeded(Groups)
	}
	var all []metricmath.Series
	for _, g := range q.insights.Top(groups) {
		result := Result{ID: q.ID, Label: g.Label, plain: g.Label}
		if q.Label != "" {
			result.Label = q.Label
			if len(q.insights.GroupBy) > 0 {
				result.Label += " " + g.Label
			}
		}
		result.Points = make([]Datapoint, len(g.Points))
		for i, p := range g.Points {
			result.Points[i] = Datapoint{p.Time, q.insights.Statistic.Of(p), p.Count}
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

// resultFactor is how many times more memory a Result takes than its series in metricmath.
const resultFactor = 3

// groups reads the series that a query selects, group by group.
func (r *run) groups(ctx context.Context, q *planned) ([]insights.Result, error) {
	f := series.Filter{Scope: r.scope, Namespace: q.insights.Namespace, Metric: q.insights.Metric, Since: r.from}
	ids, err := r.Reader.List(ctx, f)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if err := r.request.Work(q.insights.Cost(id)); err != nil {
			return nil, err
		}
	}
	if err := r.request.Hold(len(ids) * series.IDBytes); err != nil { // the groups have them, too
		return nil, err
	}
	var out []insights.Result
	for _, g := range q.insights.Groups(ids) {
		result := insights.Result{Label: g.Label}
		for _, id := range g.IDs {
			points, err := r.read(ctx, r.from, r.to, id, q.Period, r.Reader.Read)
			if err != nil {
				return nil, err
			}
			separate := len(result.Points) + len(points)
			result.Points = insights.Merge(result.Points, points)
			r.request.Release((separate - len(result.Points)) * pointBytes)
		}
		out = append(out, result)
	}
	return out, nil
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
	r.env.Bands = make(map[*metricmath.Band]metricmath.Value, len(q.bands))
	for i := range q.bands {
		v, err := r.band(ctx, &q.bands[i])
		if err != nil {
			return nil, err
		}
		r.env.Bands[q.bands[i].of] = v
	}
	before := r.request.Held()
	v, err := q.math.Evaluate(&r.env)
	if e, ok := errors.AsType[*syntax.Error](err); ok {
		return nil, wrong(q.ID, "%s", e)
	}
	if err != nil {
		return nil, err
	}
	r.request.Release(max(0, r.request.Held()-before-v.Bytes())) // the memory of the intermediate results
	if v.Kind == metricmath.Number && q.Return {
		return nil, wrong(q.ID, "it results in a number, and an answer has time series; use TIME_SERIES to make one of it")
	}
	r.env.Values[q.ID] = v
	if !q.Return {
		return nil, nil
	}
	if err := r.request.Hold(resultFactor * v.Bytes()); err != nil {
		return nil, err
	}
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
		result := Result{
			ID: q.ID, Label: label, plain: plain, Points: make([]Datapoint, len(s.Samples)), Dropped: s.Dropped,
		}
		result.found, _ = s.Of.(*found)
		for i, p := range s.Samples {
			result.Points[i] = Datapoint{Time: time.Unix(p.Time, 0).UTC(), Value: p.Value}
		}
		results = append(results, result)
	}
	return results, nil
}

func toMath(r Result, period time.Duration) metricmath.Series {
	s := metricmath.Series{
		Label: r.Label, Period: int64(period / time.Second), Samples: make([]metricmath.Sample, len(r.Points)),
	}
	for i, p := range r.Points {
		s.Samples[i] = metricmath.Sample{Time: p.Time.Unix(), Value: p.Value}
	}
	return s
}

// Reverse sorts the points of results newest first.
func Reverse(results []Result) {
	for i := range results {
		slices.Reverse(results[i].Points)
	}
}
