package cloudwatch

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Dimension is a dimension of a metric.
type Dimension struct {
	Name  *string `max:"255"`
	Value *string `max:"1024"`
}

// Metric names a series.
type Metric struct {
	Namespace  *string     `max:"255"`
	MetricName *string     `max:"255"`
	Dimensions []Dimension `max:"30"  wrap:"member" json:",always"`
}

// MetricStat requests a statistic of a series.
type MetricStat struct {
	Metric *Metric
	Period *int32
	Stat   *string `max:"50"`
	Unit   *string `max:"32"`
}

// MetricDataQuery requests a statistic or an expression.
type MetricDataQuery struct {
	Id         *string `max:"255"`
	MetricStat *MetricStat
	Expression *string `max:"2048"`
	Label      *string `max:"2048"`
	ReturnData *bool
	Period     *int32
	AccountId  *string `max:"255"`
}

// units are the units of metrics.
var units = []string{
	"Seconds", "Microseconds", "Milliseconds", "Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes", "Bits",
	"Kilobits",
	"Megabits", "Gigabits", "Terabits", "Percent", "Count", "Bytes/Second", "Kilobytes/Second", "Megabytes/Second",
	"Gigabytes/Second", "Terabytes/Second", "Bits/Second", "Kilobits/Second", "Megabits/Second", "Gigabits/Second",
	"Terabits/Second", "Count/Second", "None",
}

// dimensionsOf returns dimensions, each of which has a name and a value.
func dimensionsOf(in []Dimension) []series.Dimension {
	var out []series.Dimension
	for _, d := range in {
		out = append(out, series.Dimension{Name: *d.Name, Value: *d.Value})
	}
	return out
}

// twice returns the name of a dimension that occurs more than once.
func twice(all []series.Dimension) (string, bool) {
	for i, d := range all {
		if slices.ContainsFunc(all[:i], func(other series.Dimension) bool { return other.Name == d.Name }) {
			return d.Name, true
		}
	}
	return "", false
}

// queriesOf returns the queries of an alarm. Unlike the model, it requires the names of metrics.
func queriesOf(in []MetricDataQuery) ([]metricdata.Query, error) {
	var v protocol.Violations
	var out []metricdata.Query
	for i, q := range in {
		query := q.query()
		if q.MetricStat != nil {
			v.Required(fmt.Sprintf("metrics.%d.member.metricStat.metric.namespace", i+1), q.MetricStat.Metric.Namespace)
			v.Required(
				fmt.Sprintf("metrics.%d.member.metricStat.metric.metricName", i+1), q.MetricStat.Metric.MetricName,
			)
			query.Stat = q.MetricStat.stat()
		}
		out = append(out, query)
	}
	return out, v.Err()
}

// stat returns the statistic of an alarm.
func (m *MetricStat) stat() *metricdata.Stat {
	return &metricdata.Stat{
		Namespace: text(m.Metric.Namespace), Metric: text(m.Metric.MetricName),
		Dimensions: dimensionsOf(m.Metric.Dimensions),
		Statistic:  *m.Stat, Unit: text(m.Unit), Period: seconds(m.Period),
	}
}

// query returns the query without its statistic.
func (q *MetricDataQuery) query() metricdata.Query {
	return metricdata.Query{
		ID: text(q.Id), Expression: text(q.Expression), Label: text(q.Label), Period: seconds(q.Period),
		Return:  q.ReturnData == nil || *q.ReturnData,
		Account: text(q.AccountId),
	}
}

// checkAccounts checks that queries are about the caller's account.
func checkAccounts(in []MetricDataQuery, account string) error {
	for _, q := range in {
		if q.AccountId != nil && *q.AccountId != account {
			return protocol.ValidationError("The query %s is about the account %s, and no accounts are linked.", text(q.Id), *q.AccountId)
		}
	}
	return nil
}

// text returns the value of p, or "".
func text(p *string) string {
	if p == nil {
		return ""
	}
	return *p
}

// optional returns s, or nil if it is empty.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func seconds(p *int32) time.Duration {
	if p == nil {
		return 0
	}
	return time.Duration(*p) * time.Second
}

func asSeconds(d time.Duration) *int32 {
	if d == 0 {
		return nil
	}
	n := int32(d / time.Second)
	return &n
}

func showDimensions(all []series.Dimension) []Dimension {
	out := make([]Dimension, len(all))
	for i, d := range all {
		out[i] = Dimension{&d.Name, &d.Value}
	}
	return out
}

func showQueries(all []metricdata.Query) []MetricDataQuery {
	var out []MetricDataQuery
	for _, q := range all {
		shown := MetricDataQuery{
			Id: &q.ID, Expression: optional(q.Expression), Label: optional(q.Label), ReturnData: &q.Return,
			Period: asSeconds(q.Period), AccountId: optional(q.Account),
		}
		if q.Stat != nil {
			shown.MetricStat = &MetricStat{
				Metric: &Metric{
					Namespace: &q.Stat.Namespace, MetricName: &q.Stat.Metric,
					Dimensions: showDimensions(q.Stat.Dimensions),
				},
				Period: asSeconds(q.Stat.Period), Stat: &q.Stat.Statistic, Unit: optional(q.Stat.Unit),
			}
		}
		out = append(out, shown)
	}
	return out
}
