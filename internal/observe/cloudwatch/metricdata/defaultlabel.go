package metricdata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// labelMetrics gives the queries of single metrics their default labels, which show how the metrics of the answer
// differ.
func labelMetrics(all []planned) {
	d := differences{
		dimensions: make(map[series.Dimension]int), names: make(map[string]bool), statistics: make(map[string]string),
	}
	for i := range all {
		if p := &all[i]; p.Stat != nil && p.Return {
			d.add(p.Stat)
		}
	}
	for i := range all {
		if p := &all[i]; p.Stat != nil {
			p.plain = d.label(p.Stat)
		}
	}
}

// differences returns how the metrics of an answer differ.
type differences struct {
	metrics    int
	dimensions map[series.Dimension]int // how many metrics have it
	names      map[string]bool
	statistics map[string]string // of each metric, by its identity; "" where there are several
}

func (d *differences) add(s *Stat) {
	d.metrics++
	d.names[s.Metric] = true
	for _, dimension := range s.Dimensions {
		d.dimensions[dimension]++
	}
	id := s.identity()
	if was, ok := d.statistics[id]; ok && was != s.Statistic {
		d.statistics[id] = ""
	} else {
		d.statistics[id] = s.Statistic
	}
}

// label returns the default label of a metric: the values of dimensions that not all metrics have, its name, and the
// statistic if the answer has another one of the same metric. Where dimensions distinguish metrics of one name, the
// name is omitted.
func (d *differences) label(s *Stat) string {
	var parts []string
	for _, dimension := range s.Dimensions {
		if d.dimensions[dimension] < d.metrics {
			parts = append(parts, dimension.Value)
		}
	}
	if len(parts) == 0 || len(d.names) > 1 {
		parts = append(parts, s.Metric)
	}
	if only, ok := d.statistics[s.identity()]; ok && only == "" {
		parts = append(parts, s.Statistic)
	}
	return strings.Join(parts, " ")
}

// identity returns a text that is the same for each statistic of a metric.
func (s *Stat) identity() string {
	ordered := slices.SortedFunc(slices.Values(s.Dimensions), func(a, b series.Dimension) int {
		return strings.Compare(a.Name, b.Name)
	})
	return fmt.Sprintf("%q %q %q", s.Namespace, s.Metric, ordered)
}
