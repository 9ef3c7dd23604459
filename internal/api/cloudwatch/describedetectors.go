package cloudwatch

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

type describeAnomalyDetectorsInput struct {
	AnomalyDetectorIds   []string `max:"50,128" wrap:"member"`
	NextToken            *string  `max:"8K"`
	MaxResults           *int32
	Namespace            *string     `max:"255"`
	MetricName           *string     `max:"255"`
	Dimensions           []Dimension `max:"30"   wrap:"member"`
	AnomalyDetectorTypes []string    `max:"2,32" wrap:"member"`
}

type describeAnomalyDetectorsOutput struct {
	AnomalyDetectors []AnomalyDetector `wrap:"member" json:",always"`
	NextToken        string            `              json:",omitempty"`
}

// AnomalyDetector is a detector as clients see it.
type AnomalyDetector struct {
	AnomalyDetectorId           string
	Namespace                   *string
	MetricName                  *string
	Dimensions                  []Dimension `wrap:"member" json:",always"`
	Stat                        *string
	Configuration               *AnomalyDetectorConfiguration
	StateValue                  string
	MetricCharacteristics       *MetricCharacteristics
	SingleMetricAnomalyDetector *SingleMetricAnomalyDetector
	MetricMathAnomalyDetector   *MetricMathAnomalyDetector
}

func (s anomalyDetectors) describeAnomalyDetectors(
	ctx context.Context, c *protocol.Call, in *describeAnomalyDetectorsInput,
) (*describeAnomalyDetectorsOutput, error) {
	dimensions, err := in.check()
	if err != nil {
		return nil, err
	}
	if err := s.allow(c, "DescribeAnomalyDetectors", service.Subject{}); err != nil {
		return nil, err
	}
	all := service.Filter(s.detectors.In(scope(c)), func(d *detector.Detector) bool {
		return in.matches(d, dimensions)
	})
	most := detectorsPage
	if in.MaxResults != nil {
		most = min(most, int(*in.MaxResults))
	}
	p, err := paged(service.Paginate(all, (*detector.Detector).Order, text(in.NextToken), "", most))
	if err != nil {
		return nil, err
	}
	out := &describeAnomalyDetectorsOutput{AnomalyDetectors: []AnomalyDetector{}, NextToken: p.Next}
	for _, d := range p.Items {
		shown := showDetector(d)
		if shown.StateValue, err = s.stateOf(ctx, d); err != nil {
			return nil, failure(err)
		}
		out.AnomalyDetectors = append(out.AnomalyDetectors, shown)
	}
	return out, nil
}

// stateOf returns the state of a detector. Nothing is learned from expressions.
func (s anomalyDetectors) stateOf(ctx context.Context, d *detector.Detector) (string, error) {
	now := s.now()
	if d.Metric != nil {
		trained, err := s.monitor.Source(s.series, s.levels, now).Trained(ctx, d.Scope, d.Metric)
		switch {
		case err != nil:
			return "", err
		case trained:
			return "TRAINED", nil
		}
	}
	if d.Metric == nil || now.Sub(d.Created) < training {
		return "PENDING_TRAINING", nil
	}
	return "TRAINED_INSUFFICIENT_DATA", nil
}

// training is how long a new detector without data is reported as in training.
const training = 24 * time.Hour

func (in *describeAnomalyDetectorsInput) check() ([]series.Dimension, error) {
	var c complaints
	if in.MaxResults != nil && *in.MaxResults < 1 {
		c.value("The parameter MaxResults must be greater than 0.")
	}
	for i, kind := range in.AnomalyDetectorTypes {
		c.oneOf(entry("AnomalyDetectorTypes", i)+"<list element>", &kind, []string{singleMetric, metricMath})
	}
	if in.AnomalyDetectorIds != nil &&
		(in.Namespace != nil || in.MetricName != nil || in.Dimensions != nil || in.AnomalyDetectorTypes != nil) {
		c.combination("The parameter AnomalyDetectorIds and those that select metrics are mutually exclusive and you have specified both.")
	}
	dimensions := c.dimensions("Dimensions", in.Dimensions)
	return dimensions, c.err()
}

// matches reports whether a request selects a detector. Those of expressions have no metric to select them by.
func (in *describeAnomalyDetectorsInput) matches(d *detector.Detector, dimensions []series.Dimension) bool {
	if in.AnomalyDetectorIds != nil {
		return slices.Contains(in.AnomalyDetectorIds, d.ID())
	}
	if d.Metric == nil {
		return slices.Contains(in.AnomalyDetectorTypes, metricMath)
	}
	return (len(in.AnomalyDetectorTypes) == 0 || slices.Contains(in.AnomalyDetectorTypes, singleMetric)) &&
		(in.Namespace == nil || d.Metric.Namespace == *in.Namespace) &&
		(in.MetricName == nil || d.Metric.Metric == *in.MetricName) &&
		(in.Dimensions == nil || series.ID{Dimensions: dimensions}.Equal(series.ID{Dimensions: d.Metric.Dimensions}))
}

func showDetector(d *detector.Detector) AnomalyDetector {
	out := AnomalyDetector{AnomalyDetectorId: d.ID(), Configuration: showConfiguration(d)}
	if d.PeriodicSpikes != nil {
		out.MetricCharacteristics = &MetricCharacteristics{d.PeriodicSpikes}
	}
	m := d.Metric
	if m == nil {
		out.MetricMathAnomalyDetector = &MetricMathAnomalyDetector{showQueries(d.Queries)}
		return out
	}
	out.Namespace, out.MetricName, out.Stat = &m.Namespace, &m.Metric, &m.Statistic
	out.Dimensions = showDimensions(m.Dimensions)
	out.SingleMetricAnomalyDetector = &SingleMetricAnomalyDetector{
		AccountId: &d.Account, Namespace: &m.Namespace, MetricName: &m.Metric, Dimensions: showDimensions(m.Dimensions),
		Stat: &m.Statistic,
	}
	return out
}

func showConfiguration(d *detector.Detector) *AnomalyDetectorConfiguration {
	return &AnomalyDetectorConfiguration{
		ExcludedTimeRanges: service.Convert(d.Excluded, func(r detector.Range) Range { return Range{&r.From, &r.To} }),
		MetricTimezone:     optional(d.Timezone), AdaptationSpeed: optional(d.AdaptationSpeed),
		OutlierFilteringStrength: optional(d.OutlierFilteringStrength),
	}
}
