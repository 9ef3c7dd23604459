package metricdata

import "github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"

// Shape is what a query results in.
type Shape uint8

// The shapes of results.
const (
	AnyShape  Shape = iota // it depends on data
	OneNumber              // which no answer has
	OneSeries
	SeveralSeries // a list, which may have one
)

// Shape returns what a query results in, as far as the expressions tell.
func (p *Plan) Shape(id string) Shape {
	env := metricmath.Env{
		Values: make(map[string]metricmath.Value, len(p.queries)), Metrics: make([]metricmath.Metric, p.metrics),
		Searches: make(map[*metricmath.Search]metricmath.Value), Bands: make(map[*metricmath.Band]metricmath.Value),
	}
	for i := range p.queries { // each is after those that it refers to
		q := &p.queries[i]
		v, err := q.withoutData(&env)
		switch {
		case err != nil:
			return AnyShape
		case q.ID == id:
			return shapeOf(v)
		}
		env.Values[q.ID] = v
	}
	return AnyShape
}

// withoutData returns the value of a query if no metric has data.
func (p *planned) withoutData(env *metricmath.Env) (metricmath.Value, error) {
	series := metricmath.Of(metricmath.Series{})
	switch {
	case p.Stat != nil:
		env.Metrics[p.metric] = metricmath.Metric{ID: p.ID}
		return series, nil
	case p.insights != nil && len(p.insights.GroupBy) > 0:
		return metricmath.ListOf(nil), nil
	case p.insights != nil:
		return series, nil
	}
	for _, s := range p.searches {
		env.Searches[s.of] = metricmath.ListOf(nil)
	}
	for _, b := range p.bands {
		env.Bands[b.of] = metricmath.ListOf(make([]metricmath.Series, 2))
	}
	return p.math.Evaluate(env)
}

func shapeOf(v metricmath.Value) Shape {
	switch v.Kind {
	case metricmath.Number:
		return OneNumber
	case metricmath.List:
		return SeveralSeries
	}
	return OneSeries
}
