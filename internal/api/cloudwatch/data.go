package cloudwatch

import (
	"context"
	"regexp"
	"slices"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
)

const (
	// mostDatapoints is the maximum number of datapoints on a page of GetMetricData.
	mostDatapoints = 100_800
	maxQueries     = 600 << 10 // bytes in a request
)

// shownBytes is the memory of a datapoint on a page.
const shownBytes = int(unsafe.Sizeof(time.Time{}) + unsafe.Sizeof(float64(0)))

const (
	newestFirst = "TimestampDescending"
	oldestFirst = "TimestampAscending"
)

type getMetricDataInput struct {
	MetricDataQueries []MetricDataQuery `wrap:"member" max:"500"`
	StartTime         *time.Time
	EndTime           *time.Time
	NextToken         *string `              max:"16K"`
	ScanBy            *string `              max:"32"`
	MaxDatapoints     *int32
	LabelOptions      *labelOptions
}

// labelOptions sets the time zone of labels.
type labelOptions struct {
	Timezone *string `max:"50"`
}

// zonePattern matches time zones: hours and minutes ahead of or behind UTC.
var zonePattern = regexp.MustCompile(`^[+-][0-9]{4}$`)

// zone returns the time zone of labels, or nil for UTC.
func (o *labelOptions) zone(c *complaints) *time.Location {
	if o == nil || text(o.Timezone) == "" {
		return nil
	}
	at, err := time.Parse("-0700", *o.Timezone)
	if err != nil || !zonePattern.MatchString(*o.Timezone) {
		c.value("The value %s for parameter LabelOptions.Timezone is invalid.", *o.Timezone)
		return nil
	}
	_, offset := at.Zone()
	return time.FixedZone(*o.Timezone, offset)
}

type getMetricDataOutput struct {
	MetricDataResults []MetricDataResult `wrap:"member" json:",always"`
	NextToken         string             `              json:",omitempty"`
	Messages          []MessageData      `wrap:"member" json:",always"`
}

// MetricDataResult is the answer to a query.
type MetricDataResult struct {
	Id         string
	Label      string
	Timestamps []time.Time `wrap:"member" json:",always"`
	Values     []float64   `wrap:"member" json:",always"`
	StatusCode string
	Messages   []MessageData `wrap:"member" json:",omitempty"`
}

// MessageData is a remark about an answer, in AWS's words.
type MessageData struct {
	Code  string
	Value string
}

// dropped is about an answer that lacks values which are no numbers.
var dropped = MessageData{
	"ArithmeticError",
	"One or more data-points have been dropped due to non-numeric values (NaN, -Infinite, +Infinite)",
}

// excesses are about requests whose queries have found too much.
var excesses = map[metricdata.Excess]MessageData{
	metricdata.Metrics: {"MaxMetricsExceeded", "Maximum number of allowed metrics exceeded"},
	metricdata.Groups:  {"MaxQueryResultsExceeded", "Only the first 500 time series can be returned by a query"},
}

func (s metrics) getMetricData(
	ctx context.Context, c *protocol.Call, in *getMetricDataInput,
) (*getMetricDataOutput, error) {
	plan, err := in.check(c)
	if err != nil {
		return nil, err
	}
	if err := s.allow(c, "GetMetricData", service.Subject{}); err != nil {
		return nil, err
	}
	at, err := in.position(s.now())
	if err != nil {
		return nil, err
	}
	source := s.monitor.Source(s.series, s.levels, at.now)
	source.Zone = in.LabelOptions.zone(new(complaints)) // it was checked
	out := &getMetricDataOutput{Messages: []MessageData{}}
	source.Exceeded = func(what metricdata.Excess) {
		if !slices.Contains(out.Messages, excesses[what]) {
			out.Messages = append(out.Messages, excesses[what])
		}
	}
	results, err := plan.Run(ctx, source, scope(c), *in.StartTime, *in.EndTime)
	if err != nil {
		return nil, failure(err)
	}
	if at.descending {
		metricdata.Reverse(results)
	}
	most := mostDatapoints
	if in.MaxDatapoints != nil {
		most = int(*in.MaxDatapoints)
	}
	if err := budget.Of(ctx).Hold(most * shownBytes); err != nil {
		return nil, failure(err)
	}
	out.MetricDataResults, out.NextToken = at.page(in.shown(results), most)
	return out, nil
}

func (in *getMetricDataInput) check(call *protocol.Call) (*metricdata.Plan, error) {
	var v protocol.Violations
	v.Enum("scanBy", in.ScanBy, newestFirst, oldestFirst)
	v.Range("maxDatapoints", in.MaxDatapoints, 1, mostDatapoints)
	if err := v.Err(); err != nil {
		return nil, err
	}
	var c complaints
	if len(in.MetricDataQueries) == 0 {
		complain(&c.missing, "The parameter MetricDataQueries is required.")
	}
	queries := c.queriesAt("MetricDataQueries", in.MetricDataQueries)
	c.window(in.StartTime, in.EndTime)
	in.LabelOptions.zone(&c)
	if err := c.errAll(); err != nil {
		return nil, err
	}
	if err := checkAccounts(in.MetricDataQueries, service.Caller(call).Account); err != nil {
		return nil, err
	}
	plan, err := metricdata.Check(queries)
	return plan, failure(err)
}

// idPattern matches the ids of queries.
var idPattern = regexp.MustCompile(`^[a-z][a-zA-Z0-9_]*$`)

// queriesAt returns the queries of a parameter.
func (c *complaints) queriesAt(parameter string, in []MetricDataQuery) (out []metricdata.Query) {
	ids := make(map[string]bool, len(in))
	for i, q := range in {
		at := entry(parameter, i)
		query := q.query()
		if c.require(at+"Id", q.Id) && !idPattern.MatchString(query.ID) {
			c.value("The value %s for parameter %sId is not matching the expected pattern %s.", query.ID, at, idPattern)
		}
		ids[query.ID] = true
		switch {
		case q.Expression != nil && q.MetricStat != nil:
			c.combination("The parameters %[1]sExpression and %[1]sMetricStat are mutually exclusive and you have specified both.", at)
		case q.Expression == nil && q.MetricStat == nil:
			c.combination("At least one of the parameters %[1]sExpression and %[1]sMetricStat must be specified.", at)
		case q.Period != nil && q.MetricStat != nil:
			c.combination("The parameters %[1]sPeriod and %[1]sMetricStat are mutually exclusive and you have specified both.", at)
		case q.MetricStat != nil:
			query.Stat = c.stat(at+"MetricStat.", q.MetricStat)
		default:
			c.require(at+"Expression", q.Expression)
			c.period(at+"Period", q.Period)
		}
		out = append(out, query)
	}
	if len(ids) < len(in) {
		c.value("The values for parameter id in MetricDataQueries are not unique.")
	}
	return out
}

// stat returns the statistic of a query.
func (c *complaints) stat(at string, in *MetricStat) *metricdata.Stat {
	out := &metricdata.Stat{Statistic: text(in.Stat), Unit: text(in.Unit), Period: seconds(in.Period)}
	if in.Metric == nil {
		complain(&c.missing, "The parameter %sMetric is required.", at)
	} else {
		c.require(at+"Metric.Namespace", in.Metric.Namespace)
		c.require(at+"Metric.MetricName", in.Metric.MetricName)
		out.Namespace, out.Metric = text(in.Metric.Namespace), text(in.Metric.MetricName)
		out.Dimensions = c.dimensions(at+"Metric.Dimensions", in.Metric.Dimensions)
	}
	if in.Period == nil {
		complain(&c.missing, "The parameter %sPeriod is required.", at)
	}
	c.period(at+"Period", in.Period)
	if in.Stat == nil {
		complain(&c.missing, "The parameter %sStat is required.", at)
	} else if _, ok := metricdata.ParseStatistic(*in.Stat); !ok {
		c.value("The value %s for parameter %sStat is not a valid statistic.", *in.Stat, at)
	}
	c.oneOf(at+"Unit", in.Unit, units)
	return out
}
