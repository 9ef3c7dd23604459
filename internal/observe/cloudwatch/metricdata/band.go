package metricdata

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/expected"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	// learnedDays is the number of earlier days, or longer periods, from which expected values are learned.
	learnedDays = 14
	day         = 24 * time.Hour
	// nearby is the maximum distance of values of shorter periods from the time of day for which they count.
	nearby = 30 * time.Minute
)

// band is an ANOMALY_DETECTION_BAND of an expression.
type band struct {
	of        *metricmath.Band
	stat      *Stat
	statistic Statistic
}

// readBands finds the metrics of the bands of an expression.
func readBands(q *planned, all []planned, index map[string]int) error {
	if q.math == nil {
		return nil
	}
	for _, b := range q.math.Bands() {
		i, ok := index[b.ID]
		if !ok {
			return wrong(q.ID, "there is no metric with the id %q", b.ID)
		}
		if all[i].Stat == nil {
			return wrong(q.ID, "ANOMALY_DETECTION_BAND takes the id of a metric, not of an expression")
		}
		q.bands = append(q.bands, band{b, all[i].Stat, all[i].statistic})
	}
	return nil
}

// IsBand reports whether a query is a band of expected values, and nothing else.
func (p *Plan) IsBand(id string) bool {
	return slices.ContainsFunc(p.queries, func(q planned) bool {
		return q.ID == id && q.math != nil && q.math.IsBand()
	})
}

// learned holds the values of an earlier day, in order of time.
type learned struct {
	points []Datapoint
	then   func(at time.Time) time.Time // the time on that day of a time of the window
}

// band returns the edges of the values that are expected of a metric in the window.
func (r *run) band(ctx context.Context, b *band) (metricmath.Value, error) {
	days, near, err := r.learn(ctx, b)
	if err != nil {
		return metricmath.Value{}, err
	}
	from, ok := Align(r.Levels, r.Now, r.from, b.stat.Period)
	if !ok || !from.Before(r.to) {
		return edges(b, nil, nil), nil
	}
	n := int((r.to.Sub(from)-1)/b.stat.Period) + 1
	ofPoint := learnedDays * (int(2*near/b.stat.Period) + 1)
	if err := r.request.Work(n * ofPoint); err != nil {
		return metricmath.Value{}, err
	}
	low, high := make([]metricmath.Sample, 0, n), make([]metricmath.Sample, 0, n)
	values := make([]float64, 0, ofPoint)
	for at := from; at.Before(r.to); at = at.Add(b.stat.Period) {
		values = values[:0]
		for i := range days {
			values = days[i].around(values, at, near)
		}
		if least, most, ok := expected.Band(values, b.of.Width); ok {
			low = append(low, metricmath.Sample{Time: at.Unix(), Value: least})
			high = append(high, metricmath.Sample{Time: at.Unix(), Value: most})
		}
	}
	return edges(b, low, high), nil
}

func edges(b *band, low, high []metricmath.Sample) metricmath.Value {
	period := int64(b.stat.Period / time.Second)
	return metricmath.ListOf([]metricmath.Series{
		{Label: "lower", Period: period, Samples: low}, {Label: "upper", Period: period, Samples: high},
	})
}

// learn reads the values of a metric around the window on earlier days, and returns how far around.
func (r *run) learn(ctx context.Context, b *band) (days []learned, near time.Duration, err error) {
	id := series.ID{
		Scope: r.scope, Namespace: b.stat.Namespace, Metric: b.stat.Metric, Dimensions: b.stat.Dimensions,
		Unit: b.stat.Unit,
	}
	step := max(day, b.stat.Period)
	if b.stat.Period <= nearby {
		near = nearby
	}
	training := r.training(r.scope, b.stat)
	for n := learnedDays; n > 0; n-- {
		then := func(at time.Time) time.Time { return training.earlier(at, n, step) }
		points, err := r.datapointsIn(
			ctx, then(r.from).Add(-near), then(r.to).Add(near), id, b.stat.Period, b.statistic,
		)
		if err != nil {
			return nil, 0, err
		}
		days = append(days, learned{training.keep(points), then})
	}
	return days, near, nil
}

// around appends the values of the day that are near a time of the window.
func (d *learned) around(out []float64, at time.Time, near time.Duration) []float64 {
	from, to := d.then(at).Add(-near), d.then(at).Add(near)
	first, _ := slices.BinarySearchFunc(d.points, from, func(p Datapoint, t time.Time) int { return p.Time.Compare(t) })
	for _, p := range d.points[first:] {
		if p.Time.After(to) {
			break
		}
		out = append(out, p.Value)
	}
	return out
}
