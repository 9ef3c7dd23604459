package cloudwatch

import (
	"context"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	metricsPage = 500
	// A metric is listed for listedFor after its last point, or for recently if only active ones are requested.
	listedFor = 14 * 24 * time.Hour
	recently  = 3 * time.Hour
)

// DimensionFilter selects metrics with a dimension. Without a value, every value matches.
type DimensionFilter struct {
	Name  *string `max:"255"`
	Value *string `max:"1024"`
}

type listMetricsInput struct {
	Namespace             *string           `max:"255"`
	MetricName            *string           `max:"255"`
	Dimensions            []DimensionFilter `max:"10"  wrap:"member"`
	NextToken             *string           `max:"8K"`
	RecentlyActive        *string           `max:"32"`
	IncludeLinkedAccounts *bool
	OwningAccount         *string `max:"255"`
}

type listMetricsOutput struct {
	Metrics        []Metric `wrap:"member" json:",always"`
	NextToken      string   `              json:",omitempty"`
	OwningAccounts []string `wrap:"member"`
}

func (s metrics) listMetrics(ctx context.Context, c *protocol.Call, in *listMetricsInput) (*listMetricsOutput, error) {
	f := series.Filter{
		Scope: scope(c), Namespace: text(in.Namespace), Metric: text(in.MetricName), Since: s.now().Add(-listedFor),
	}
	if in.RecentlyActive != nil {
		f.Since = s.now().Add(-recently)
	}
	for _, d := range in.Dimensions {
		f.Dimensions = append(f.Dimensions, series.Dimension{Name: *d.Name, Value: text(d.Value)})
	}
	if err := s.allow(c, "ListMetrics", service.Subject{}); err != nil {
		return nil, err
	}
	if in.OwningAccount != nil && *in.OwningAccount != f.Account {
		return &listMetricsOutput{Metrics: []Metric{}}, nil // no accounts are linked
	}
	ids, err := s.monitor.Reader(s.series).List(ctx, f)
	if err != nil {
		return nil, failure(err)
	}
	p, err := pagedValue(service.Paginate(ids, key, text(in.NextToken), "", metricsPage))
	if err != nil {
		return nil, err
	}
	out := &listMetricsOutput{NextToken: p.Next, Metrics: service.Convert(p.Items, func(id series.ID) Metric {
		return Metric{Namespace: &id.Namespace, MetricName: &id.Metric, Dimensions: showDimensions(id.Dimensions)}
	})}
	if in.IncludeLinkedAccounts != nil && *in.IncludeLinkedAccounts {
		for range p.Items {
			out.OwningAccounts = append(out.OwningAccounts, f.Account)
		}
	}
	return out, nil
}

// key is a text that sorts like its series.
func key(id series.ID) string {
	parts := []string{id.Namespace, id.Metric}
	for _, d := range monitor.Ordered(id.Dimensions) {
		parts = append(parts, d.Name, d.Value)
	}
	return strings.Join(parts, "\x01")
}
