package cloudwatch

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/metricdata"
	"github.com/sluicemq/sluice/internal/observe/series"
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
	Dimensions []Dimension `wrap:"member" max:"30" json:",always"`
}

// MetricStat asks for a statistic of a series.
type MetricStat struct {
	Metric *Metric
	Period *int32
	Stat   *string `max:"50"`
	Unit   *string `max:"32"`
}

// MetricDataQuery asks for a statistic or an expression.
type MetricDataQuery struct {
	Id         *string `max:"255"`
	MetricStat *MetricStat
	Expression *string `max:"2048"`
	Label      *string `max:"2048"`
	ReturnData *bool
	Period     *int32
	AccountId  *string `max:"255"`
}

// units are those that metrics can have.
var units = []string{
	"Seconds", "Microseconds", "Milliseconds", "Bytes", "Kilobytes", "Megabytes", "Gigabytes", "Terabytes", "Bits", "Kilobits",
	"Megabits", "Gigabits", "Terabits", "Percent", "Count", "Bytes/Second", "Kilobytes/Second", "Megabytes/Second",
	"Gigabytes/Second", "Terabytes/Second", "Bits/Second", "Kilobits/Second", "Megabits/Second", "Gigabits/Second",
	"Terabits/Second", "Count/Second", "None",
}

func checkUnit(v *protocol.Violations, member string, unit *string) { v.Enum(member, unit, units...) }

// checkDimensions returns dimensions, each of which has a name and a value.
func checkDimensions(v *protocol.Violations, member string, in []Dimension) []series.Dimension {
	var out []series.Dimension
	for i, d := range in {
		at := fmt.Sprintf("%s.%d.member.", member, i+1)
		v.Length(at+"name", d.Name, 1, 255)
		v.Length(at+"value", d.Value, 1, 1024)
		out = append(out, series.Dimension{Name: v.Required(at+"name", d.Name), Value: v.Required(at+"value", d.Value)})
	}
	return out
}

// twice returns the name of a dimension that is there more than once.
func twice(all []series.Dimension) (string, bool) {
	for i, d := range all {
		if slices.ContainsFunc(all[:i], func(other series.Dimension) bool { return other.Name == d.Name }) {
			return d.Name, true
		}
	}
	return "", false
}

// checkNames requires namespace and name of a metric.
func checkNames(v *protocol.Violations, prefix string, namespace, name *string) (string, string) {
	v.Length(prefix+"namespace", namespace, 1, 255)
	v.Length(prefix+"metricName", name, 1, 255)
	if namespace != nil && strings.HasPrefix(*namespace, ":") {
		v.Add(*namespace, prefix+"namespace", "Member must satisfy regular expression pattern: [^:].*")
	}
	return v.Required(prefix+"namespace", namespace), v.Required(prefix+"metricName", name)
}

// checkQueries returns the queries of a request.
func checkQueries(v *protocol.Violations, member string, in []MetricDataQuery) []metricdata.Query {
	var out []metricdata.Query
	for i, q := range in {
		at := fmt.Sprintf("%s.%d.member.", member, i+1)
		query := q.query()
		v.Required(at+"id", q.Id)
		v.Length(at+"expression", q.Expression, 1, 2048)
		v.Range(at+"period", q.Period, 1, 1<<30)
		if q.MetricStat != nil {
			query.Stat = checkStat(v, at+"metricStat.", q.MetricStat)
		}
		out = append(out, query)
	}
	return out
}

// query returns the query without its statistic.
func (q *MetricDataQuery) query() metricdata.Query {
	return metricdata.Query{
		ID: text(q.Id), Expression: text(q.Expression), Label: text(q.Label), Period: seconds(q.Period), Return: q.ReturnData == nil || *q.ReturnData,
		Account: text(q.AccountId),
	}
}

// checkAccounts makes sure that queries are about the caller's account.
func checkAccounts(in []MetricDataQuery, account string) error {
	for _, q := range in {
		if q.AccountId != nil && *q.AccountId != account {
			return protocol.ValidationError("The query %s is about the account %s, and no accounts are linked.", text(q.Id), *q.AccountId)
		}
	}
	return nil
}

func checkStat(v *protocol.Violations, at string, in *MetricStat) *metricdata.Stat {
	out := &metricdata.Stat{Statistic: v.Required(at+"stat", in.Stat), Unit: text(in.Unit), Period: seconds(in.Period)}
	checkUnit(v, at+"unit", in.Unit)
	v.Range(at+"period", in.Period, 1, 1<<30)
	if in.Period == nil {
		v.Required(at+"period", nil)
	}
	if in.Metric == nil {
		v.Required(at+"metric", nil)
		return out
	}
	out.Namespace, out.Metric = checkNames(v, at+"metric.", in.Metric.Namespace, in.Metric.MetricName)
	out.Dimensions = checkDimensions(v, at+"metric.dimensions", in.Metric.Dimensions)
	return out
}

// text returns what p points to, or "".
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
			Id: &q.ID, Expression: optional(q.Expression), Label: optional(q.Label), ReturnData: &q.Return, Period: asSeconds(q.Period), AccountId: optional(q.Account),
		}
		if q.Stat != nil {
			shown.MetricStat = &MetricStat{
				Metric: &Metric{Namespace: &q.Stat.Namespace, MetricName: &q.Stat.Metric, Dimensions: showDimensions(q.Stat.Dimensions)},
				Period: asSeconds(q.Stat.Period), Stat: &q.Stat.Statistic, Unit: optional(q.Stat.Unit),
			}
		}
		out = append(out, shown)
	}
	return out
}
