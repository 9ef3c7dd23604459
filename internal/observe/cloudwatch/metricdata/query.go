package metricdata

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/insights"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricmath"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// Query requests a statistic of a series, or the value of an expression.
type Query struct {
	ID         string
	Stat       *Stat  `json:",omitempty"` // empty if there is an expression
	Expression string `json:",omitempty"`
	Label      string `json:",omitempty"`
	// Period is the period of the series which an Insights expression selects.
	Period time.Duration `json:",omitempty"`
	Return bool          `json:",omitempty"` // included in the answer
	// Account is the account of the metric in the request. There are no other accounts to query.
	Account string `json:",omitempty"`
}

// Stat is a statistic of a series.
type Stat struct {
	Namespace  string
	Metric     string
	Dimensions []series.Dimension `json:",omitempty"`
	Period     time.Duration
	Statistic  string
	Unit       string `json:",omitempty"`
}

// Error describes a mistake in a list of queries.
type Error struct {
	ID     string // of the query; empty: of the list
	Reason string
	AWS    string // what AWS says, which is less; empty if that is not known
}

func (e *Error) Error() string {
	if e.ID == "" {
		return e.Reason
	}
	return fmt.Sprintf("Error in expression '%s': %s", e.ID, e.Reason)
}

func wrong(id, format string, args ...any) *Error {
	return &Error{ID: id, Reason: fmt.Sprintf(format, args...)}
}

// wrongMath is the error of an expression that cannot be read.
func wrongMath(id string, err error) *Error {
	out := wrong(id, "%s", err)
	if e, ok := errors.AsType[*syntax.Error](err); ok && e.AWS != "" {
		out.AWS = (&Error{ID: id, Reason: e.AWS}).Error()
	}
	return out
}

// Plan is a valid list of queries.
type Plan struct {
	queries []planned // each after those that it refers to
	order   []int     // of the queries as they were given, in queries
	metrics int       // how many queries have a metric
}

// planned is a query with its parsed parts.
type planned struct {
	Query
	statistic Statistic
	plain     string // the default label
	metric    int    // the place of the metric among those of all queries, as they were given
	math      *metricmath.Expression
	searches  []search // of math
	bands     []band   // of math
	insights  *insights.Query
}

// isMetric reports whether the query is not an expression over other queries.
func (p *planned) isMetric() bool { return p.math == nil }

// Check checks a list of queries. The only error is an *Error.
func Check(queries []Query) (*Plan, error) {
	all := make([]planned, len(queries))
	index := make(map[string]int, len(queries))
	metrics := 0
	for i, q := range queries {
		if !isID(q.ID) {
			return nil, wrong(
				"",
				"The id %q is not valid: it must begin with a lowercase letter and have letters, digits and underscores only",
				q.ID,
			)
		}
		if _, twice := index[q.ID]; twice {
			return nil, wrong("", "The id %q is there more than once", q.ID)
		}
		index[q.ID] = i
		p, err := read(q)
		if err != nil {
			return nil, err
		}
		if all[i] = p; p.Stat != nil {
			all[i].metric = metrics
			metrics++
		}
	}
	labelMetrics(all)
	for i := range all {
		if err := readBands(&all[i], all, index); err != nil {
			return nil, err
		}
	}
	s := sorter{all: all, index: index, state: make([]uint8, len(all)), place: make([]int, len(all))}
	for i := range all {
		if err := s.visit(i); err != nil {
			return nil, err
		}
	}
	return &Plan{queries: s.out, order: s.place, metrics: metrics}, nil
}

func read(q Query) (p planned, err error) {
	p.Query = q
	switch {
	case q.Stat != nil && q.Expression != "":
		return p, wrong(q.ID, "it has both a metric and an expression")
	case q.Stat != nil:
		var ok bool
		if p.statistic, ok = ParseStatistic(q.Stat.Statistic); !ok {
			return p, wrongStatistic(q.ID, q.Stat.Statistic)
		}
		return p, checkPeriod(q.ID, q.Stat.Period)
	case q.Expression == "":
		return p, wrong(q.ID, "it has neither a metric nor an expression")
	case insights.Is(q.Expression):
		if p.insights, err = insights.Parse(q.Expression); err != nil {
			return p, wrong(q.ID, "%s", err)
		}
		if q.Period == 0 {
			return p, wrong(q.ID, "a query needs a period")
		}
		return p, checkPeriod(q.ID, q.Period)
	}
	if p.math, err = metricmath.Parse(q.Expression); err != nil {
		return p, wrongMath(q.ID, err)
	}
	p.searches, err = readSearches(q, p.math)
	return p, err
}

func wrongStatistic(id, statistic string) *Error {
	return wrong(
		id,
		"the statistic %.50s is not supported; use SampleCount, Average, Sum, Minimum, Maximum, a percentile such as p99 or a range such as TM(10%%:90%%)",
		statistic,
	)
}

func checkPeriod(id string, period time.Duration) error {
	if !series.IsPeriod(period) {
		return wrong(id, "the period must be 1, 5, 10, 20, 30 or a multiple of 60 seconds")
	}
	return nil
}

func isID(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	return !slices.ContainsFunc([]byte(s), func(c byte) bool {
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		return !letter && (c < '0' || c > '9') && c != '_'
	})
}

// sorter puts queries behind those that they refer to.
type sorter struct {
	all   []planned
	index map[string]int
	state []uint8 // 0: not visited, 1: being visited, 2: in out
	place []int
	out   []planned
}

func (s *sorter) visit(i int) error {
	p := &s.all[i]
	switch s.state[i] {
	case 1:
		return wrong(p.ID, "it refers to itself, directly or through others")
	case 2:
		return nil
	}
	s.state[i] = 1
	if p.math != nil {
		for _, id := range p.math.IDs() {
			other, ok := s.index[id]
			if !ok {
				return wrong(p.ID, "there is no metric or expression with the id %q", id)
			}
			if err := s.visit(other); err != nil {
				return err
			}
		}
		if p.math.UsesAll() {
			for other := range s.all {
				if s.all[other].isMetric() {
					if err := s.visit(other); err != nil {
						return err
					}
				}
			}
		}
	}
	s.state[i] = 2
	s.place[i] = len(s.out)
	s.out = append(s.out, *p)
	return nil
}

// Returned returns the ids of the queries in the answer.
func (p *Plan) Returned() (ids []string) {
	for _, at := range p.order {
		if q := &p.queries[at]; q.Return {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// Period returns the longest period of the plan's metrics, or a minute if it has none.
func (p *Plan) Period() (longest time.Duration) {
	for i := range p.queries {
		if s := p.queries[i].Stat; s != nil {
			longest = max(longest, s.Period)
		}
		for _, s := range p.queries[i].searches {
			longest = max(longest, s.period)
		}
		longest = max(longest, p.queries[i].Period)
	}
	return cmp.Or(longest, series.Minute)
}

// Searches reports whether the plan has a SEARCH, which may find any number of metrics.
func (p *Plan) Searches() bool {
	return slices.ContainsFunc(p.queries, func(q planned) bool { return len(q.searches) > 0 })
}

// Uses reports whether the plan has a metric of that kind.
func (p *Plan) Uses(is func(*Stat) bool) bool {
	return slices.ContainsFunc(p.queries, func(q planned) bool { return q.Stat != nil && is(q.Stat) })
}
