package insights

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Bounds of queries.
const (
	MaxLength = 2048
	MaxLimit  = 500 // series of one query's answer
)

// Statistic is a query's statistic of samples.
type Statistic string

// The statistics, as queries and as other requests call them.
var statistics = map[string]Statistic{
	"AVG": "Average", "COUNT": "SampleCount", "MAX": "Maximum", "MIN": "Minimum", "SUM": "Sum",
}

// Condition is a condition of WHERE.
type Condition struct {
	Dimension string
	Value     string
	Not       bool
}

// Query is a parsed query.
type Query struct {
	Statistic  Statistic
	Metric     string
	Namespace  string
	Schema     []string // dimensions that a series must have; nil: any
	Where      []Condition
	GroupBy    []string
	Order      Statistic // of a group's samples in the whole window; empty: by label
	Descending bool
	Limit      int
}

// Matches reports whether a query selects a series. Only its namespace, metric and dimensions count.
func (q *Query) Matches(id series.ID) bool {
	if id.Namespace != q.Namespace || id.Metric != q.Metric {
		return false
	}
	if q.Schema != nil && len(id.Dimensions) != len(q.Schema) {
		return false
	}
	for _, name := range slices.Concat(q.Schema, q.GroupBy) {
		if _, ok := dimension(id, name); !ok {
			return false
		}
	}
	for _, c := range q.Where {
		if value, ok := dimension(id, c.Dimension); !ok || (value == c.Value) == c.Not {
			return false
		}
	}
	return true
}

// stepsOfSample is how many comparisons take about as long as reading a sample.
const stepsOfSample = 64

// Cost returns the cost of checking whether the query selects the series, in samples that could be read instead.
func (q *Query) Cost(id series.ID) int {
	return 1 + len(id.Dimensions)*(len(q.Schema)+2*len(q.GroupBy)+len(q.Where))/stepsOfSample
}

func dimension(id series.ID, name string) (string, bool) {
	i := slices.IndexFunc(id.Dimensions, func(d series.Dimension) bool { return d.Name == name })
	if i < 0 {
		return "", false
	}
	return id.Dimensions[i].Value, true
}

// Group is the series that are merged into one, and its name.
type Group struct {
	Label string // the values of GROUP BY, which two groups may have in common: "a b", "c" and "a", "b c"
	IDs   []series.ID

	values []string
}

// Groups sorts the selected series into groups, ordered by the values of GROUP BY. Without GROUP BY there is one group.
func (q *Query) Groups(all []series.ID) []Group {
	byValues := make(map[string]*Group)
	for _, id := range all {
		if !q.Matches(id) {
			continue
		}
		values := q.values(id)
		key := strings.Join(values, "\x00") // which no value has
		g := byValues[key]
		if g == nil {
			g = &Group{Label: cmp.Or(strings.Join(values, " "), q.Metric), values: values}
			byValues[key] = g
		}
		g.IDs = append(g.IDs, id)
	}
	out := make([]Group, 0, len(byValues))
	for _, g := range byValues {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int { return slices.Compare(a.values, b.values) })
	return out
}

// values returns the values by which a series is grouped.
func (q *Query) values(id series.ID) []string {
	values := make([]string, len(q.GroupBy))
	for i, name := range q.GroupBy {
		values[i], _ = dimension(id, name)
	}
	return values
}

// Result is a group with its points.
type Result struct {
	Label  string
	Points []series.Point
}

// Merge returns the points of two series as those of one. Each list is in order of time.
func Merge(a, b []series.Point) []series.Point {
	out := make([]series.Point, 0, max(len(a), len(b)))
	for len(a) > 0 && len(b) > 0 {
		switch c := a[0].Time.Compare(b[0].Time); {
		case c < 0:
			out, a = append(out, a[0]), a[1:]
		case c > 0:
			out, b = append(out, b[0]), b[1:]
		default:
			out, a, b = append(out, a[0].Merge(b[0])), a[1:], b[1:]
		}
	}
	return append(append(out, a...), b...)
}

// Top sorts results in the order of the query and keeps as many as it requests.
func (q *Query) Top(results []Result) []Result {
	if q.Order != "" {
		slices.SortStableFunc(results, func(a, b Result) int {
			c := cmp.Compare(q.Order.ofAll(a.Points), q.Order.ofAll(b.Points))
			if q.Descending {
				c = -c
			}
			return c
		})
	}
	return results[:min(len(results), q.Limit)]
}

// ofAll returns the statistic of all samples together.
func (s Statistic) ofAll(points []series.Point) float64 {
	var all series.Point
	for _, p := range points {
		all = all.Merge(p)
	}
	return s.Of(all)
}

// Of returns the statistic of a point.
func (s Statistic) Of(p series.Point) float64 {
	switch s {
	case "Average":
		return p.Average()
	case "SampleCount":
		return p.Count
	case "Maximum":
		return p.Max
	case "Minimum":
		return p.Min
	}
	return p.Sum
}
