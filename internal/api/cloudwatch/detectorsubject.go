package cloudwatch

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

// detectorSubject selects the data that an anomaly detector learns from, in one of three forms: the metric's fields
// (the oldest form), the same fields in a structure, or an expression.
type detectorSubject struct {
	Namespace                   *string     `max:"255"`
	MetricName                  *string     `max:"255"`
	Dimensions                  []Dimension `max:"30"  wrap:"member"`
	Stat                        *string     `max:"50"`
	SingleMetricAnomalyDetector *SingleMetricAnomalyDetector
	MetricMathAnomalyDetector   *MetricMathAnomalyDetector
}

// SingleMetricAnomalyDetector is the metric of a detector.
type SingleMetricAnomalyDetector struct {
	AccountId  *string     `max:"255"`
	Namespace  *string     `max:"255"`
	MetricName *string     `max:"255"`
	Dimensions []Dimension `max:"30"  wrap:"member" json:",always"`
	Stat       *string     `max:"50"`
}

// MetricMathAnomalyDetector is the expression of a detector.
type MetricMathAnomalyDetector struct {
	MetricDataQueries []MetricDataQuery `max:"20" wrap:"member" json:",always"`
}

// isMetric reports whether a request names the metric itself.
func (in *detectorSubject) isMetric() bool {
	return in.Namespace != nil || in.MetricName != nil || in.Dimensions != nil || in.Stat != nil
}

// kinds returns in how many ways a request names a subject.
func (in *detectorSubject) kinds() (n int) {
	for _, present := range []bool{
		in.isMetric(), in.SingleMetricAnomalyDetector != nil, in.MetricMathAnomalyDetector != nil,
	} {
		if present {
			n++
		}
	}
	return n
}

// subject returns the subject that a request names.
func (in *detectorSubject) subject(c *complaints) detector.Subject {
	const both = "The parameters %s and %s are mutually exclusive and you have specified both."
	single, math := in.SingleMetricAnomalyDetector, in.MetricMathAnomalyDetector
	switch {
	case in.kinds() <= 1:
	case single != nil && math != nil:
		c.combination(both, "SingleMetricAnomalyDetector", "MetricMathAnomalyDetector")
	case single != nil:
		c.combination(both, in.first(), "SingleMetricAnomalyDetector")
	default:
		c.combination(both, in.first(), "MetricMathAnomalyDetector")
	}
	switch {
	case math != nil:
		return detector.Subject{Queries: math.queries(c)}
	case single != nil:
		return single.subject(c, "SingleMetricAnomalyDetector.")
	}
	old := SingleMetricAnomalyDetector{
		Namespace: in.Namespace, MetricName: in.MetricName, Dimensions: in.Dimensions, Stat: in.Stat,
	}
	return old.subject(c, "")
}

// first returns the first parameter of the metric itself.
func (in *detectorSubject) first() string {
	switch {
	case in.Namespace != nil:
		return "Namespace"
	case in.MetricName != nil:
		return "MetricName"
	case in.Dimensions != nil:
		return "Dimensions"
	}
	return "Stat"
}

// subject returns the metric of a detector. at is the prefix of its parameters' names.
func (in *SingleMetricAnomalyDetector) subject(c *complaints, at string) detector.Subject {
	c.require(at+"Namespace", in.Namespace)
	c.require(at+"MetricName", in.MetricName)
	if c.require(at+"Stat", in.Stat) {
		if _, ok := metricdata.ParseStatistic(*in.Stat); !ok {
			c.value("The value %s for parameter %sStat is not a valid statistic.", *in.Stat, at)
		}
	}
	return detector.Subject{Metric: &metricdata.Stat{
		Namespace: text(in.Namespace), Metric: text(in.MetricName),
		Dimensions: c.dimensions(at+"Dimensions", in.Dimensions),
		Statistic:  text(in.Stat),
	}}
}

// queries returns the queries of an expression.
func (in *MetricMathAnomalyDetector) queries(c *complaints) []metricdata.Query {
	if len(in.MetricDataQueries) == 0 {
		complain(&c.missing, "The parameter MetricMathAnomalyDetector.MetricDataQueries is required.")
	}
	return c.queriesAt("MetricMathAnomalyDetector.MetricDataQueries", in.MetricDataQueries)
}

// checkSubject checks more than single parameters: the account, and the meaning of an expression.
func (in *detectorSubject) checkSubject(account string, s *detector.Subject) error {
	if single := in.SingleMetricAnomalyDetector; single != nil && single.AccountId != nil &&
		*single.AccountId != account {
		return errValue("The value %s for parameter SingleMetricAnomalyDetector.AccountId is invalid.", *single.AccountId)
	}
	if s.Metric != nil {
		return nil
	}
	if err := checkAccounts(in.MetricMathAnomalyDetector.MetricDataQueries, account); err != nil {
		return err
	}
	plan, err := metricdata.Check(s.Queries)
	switch {
	case err != nil:
		return failure(err)
	case len(plan.Returned()) != 1:
		return protocol.ValidationError("Exactly one element of the metrics list should return data.")
	}
	return nil
}

// entry returns the prefix of the parameters of an entry of a list.
func entry(list string, i int) string { return fmt.Sprintf("%s.member.%d.", list, i+1) }
