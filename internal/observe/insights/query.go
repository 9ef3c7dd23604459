package insights

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/series"
)

// Bounds of queries.
const (
	MaxLength = 2048
	MaxLimit  = 500 // series of one query's answer
)

// Statistic is what a query makes of samples.
type Statistic string

// The statistics, as queries and as other requests call them.
var statistics = map[string]Statistic{
	"AVG": "Average", "COUNT": "SampleCount", "MAX": "Maximum", "MIN": "Minimum", "SUM": "Sum",
}

// Condition is one of WHERE.
type Condition struct {
	Dimension string
	Value     string
	Not       bool
}

// Query is a query that was read.
type Query struct {
	Statistic  Statistic
	Metric     string
	Namespace  string
	Schema     []string // the dimensions that a series has; nil: any
	Where      []Condition
	GroupBy    []string
	Order      Statistic // of a group's samples in the whole window; empty: by label
	Descending bool
	Limit      int
}

// Matches reports whether a series is one that the query is about. Only its namespace, metric and dimensions count.
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

func dimension(id series.ID, name string) (string, bool) {
	i := slices.IndexFunc(id.Dimensions, func(d series.Dimension) bool { return d.Name == name })
	if i < 0 {
		return "", false
	}
	return id.Dimensions[i].Value, true
}

// Group is the series that become one, and how that is called.
type Group struct {
	Label string
	IDs   []series.ID
}

// Groups sorts the series that the query is about into groups, in order of their labels. Without GROUP BY there is one.
func (q *Query) Groups(all []series.ID) []Group {
	byLabel := make(map[string]*Group)
	for _, id := range all {
		if !q.Matches(id) {
			continue
		}
		var values []string
		for _, name := range q.GroupBy {
			value, _ := dimension(id, name)
			values = append(values, value)
		}
		label := strings.Join(values, " ")
		if len(q.GroupBy) == 0 {
			label = q.Metric
		}
		g := byLabel[label]
		if g == nil {
			g = &Group{Label: label}
			byLabel[label] = g
		}
		g.IDs = append(g.IDs, id)
	}
	out := make([]Group, 0, len(byLabel))
	for _, g := range byLabel {
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b Group) int { return strings.Compare(a.Label, b.Label) })
	return out
}

// Result is a group with its points.
type Result struct {
	Label  string
	Points []series.Point
}

// Merge returns the points of several series as those of one. Each list is in order of time.
func Merge(lists [][]series.Point) []series.Point {
	all := slices.Concat(lists...)
	slices.SortStableFunc(all, func(a, b series.Point) int { return a.Time.Compare(b.Time) })
	out := all[:0]
	for _, p := range all {
		if n := len(out); n > 0 && out[n-1].Time.Equal(p.Time) {
			out[n-1] = out[n-1].Merge(p)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// Top puts results in the order that the query asks for and keeps as many as it wants.
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
