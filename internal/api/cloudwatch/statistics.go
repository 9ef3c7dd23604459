package cloudwatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// maxStatistics is the maximum number of datapoints of one call of GetMetricStatistics.
const maxStatistics = 1440

// datapointBytes is the maximum memory of a datapoint, with five statistics and ten percentiles.
const datapointBytes = series.PointBytes + int(unsafe.Sizeof(Datapoint{})) + 5*8 + 1024

type getMetricStatisticsInput struct {
	Namespace          *string     `max:"255"`
	MetricName         *string     `max:"255"`
	Dimensions         []Dimension `max:"30"    wrap:"member"`
	StartTime          *time.Time
	EndTime            *time.Time
	Period             *int32
	Statistics         []string `max:"5,32"  wrap:"member"`
	ExtendedStatistics []string `max:"10,50" wrap:"member"`
	Unit               *string  `max:"32"`
}

type getMetricStatisticsOutput struct {
	Label      string
	Datapoints []Datapoint `wrap:"member" json:",always"`
}

// Datapoint holds the statistics of a metric in a period.
type Datapoint struct {
	Timestamp          time.Time
	SampleCount        *float64
	Average            *float64
	Sum                *float64
	Minimum            *float64
	Maximum            *float64
	Unit               string
	ExtendedStatistics map[string]float64 `wrap:"entry" entry:"key,value"`
}

func (s metrics) getMetricStatistics(
	ctx context.Context,
	c *protocol.Call,
	in *getMetricStatisticsInput,
) (*getMetricStatisticsOutput, error) {
	id, err := in.check(c)
	if err != nil {
		return nil, err
	}
	if err := s.allow(c, "GetMetricStatistics", service.Subject{}); err != nil {
		return nil, err
	}
	out := &getMetricStatisticsOutput{Label: id.Metric, Datapoints: []Datapoint{}}
	src := s.monitor.Source(s.series, s.levels, s.now())
	from, to := src.Bound(*in.StartTime, *in.EndTime)
	from, ok := metricdata.Align(s.levels, src.Now, from, seconds(in.Period))
	if !ok || !from.Before(to) {
		return out, nil
	}
	for _, id.Unit = range s.unitsOf(id) {
		if err := budget.Of(ctx).Hold(maxStatistics * datapointBytes); err != nil {
			return nil, failure(err)
		}
		read := src.Reader.Read
		if len(in.ExtendedStatistics) > 0 {
			read = src.Reader.ReadSamples
		}
		points, err := read(ctx, id, from, to, seconds(in.Period))
		if err != nil {
			return nil, failure(err)
		}
		for _, p := range points {
			if d, ok := in.datapoint(p, id.Unit); ok {
				out.Datapoints = append(out.Datapoints, d)
			}
		}
	}
	return out, nil
}

// unitsOf returns the units with datapoints: the requested one, or all units of the series.
func (s metrics) unitsOf(id series.ID) []string {
	if id.Unit != "" {
		return []string{id.Unit}
	}
	return s.monitor.Units(id)
}

// datapoint returns the requested statistics of a point, or false if it has none of them.
func (in *getMetricStatisticsInput) datapoint(p series.Point, unit string) (Datapoint, bool) {
	d := Datapoint{Timestamp: p.Time, Unit: unit}
	for name, field := range map[string]**float64{
		"SampleCount": &d.SampleCount, "Average": &d.Average, "Sum": &d.Sum, "Minimum": &d.Minimum,
		"Maximum": &d.Maximum,
	} {
		if slices.Contains(in.Statistics, name) {
			*field = must(name, p)
		}
	}
	for _, name := range in.ExtendedStatistics {
		statistic, _ := metricdata.ParseStatistic(name)
		n, ok := statistic.Of(p)
		if !ok {
			continue
		}
		if d.ExtendedStatistics == nil {
			d.ExtendedStatistics = make(map[string]float64)
		}
		d.ExtendedStatistics[name] = n
	}
	return d, len(in.Statistics) > 0 || d.ExtendedStatistics != nil
}

// must returns a statistic that every point has.
func must(name string, p series.Point) *float64 {
	statistic, _ := metricdata.ParseStatistic(name)
	n, _ := statistic.Of(p)
	return &n
}

func (in *getMetricStatisticsInput) check(call *protocol.Call) (id series.ID, err error) {
	var c complaints
	c.require("Namespace", in.Namespace)
	c.require("MetricName", in.MetricName)
	c.window(in.StartTime, in.EndTime)
	if in.Period == nil {
		complain(&c.missing, "The parameter Period is required.")
	}
	c.period("Period", in.Period)
	for i, name := range in.Statistics {
		c.oneOf(fmt.Sprintf("Statistics.member.%d.<list element>", i+1), &name, metricdata.Statistics)
	}
	for _, name := range in.ExtendedStatistics {
		if statistic, ok := metricdata.ParseStatistic(name); !ok || !statistic.IsExtended() {
			c.value("The value %s for parameter ExtendedStatistics is not supported.", name)
		}
	}
	c.oneOf("Unit", in.Unit, units)
	if strings.HasPrefix(text(in.Namespace), ":") {
		c.value("The value %s for parameter Namespace is invalid. It must not begin with a colon.", *in.Namespace)
	}
	if len(in.Statistics) == 0 && len(in.ExtendedStatistics) == 0 {
		c.combination("At least one of the parameters Statistics and ExtendedStatistics must be specified.")
	}
	id = series.ID{
		Scope: scope(call), Namespace: text(in.Namespace), Metric: text(in.MetricName), Unit: text(in.Unit),
		Dimensions: c.dimensions("Dimensions", in.Dimensions),
	}
	if err := c.err(); err != nil {
		return id, err
	}
	if n := in.EndTime.Sub(*in.StartTime) / seconds(in.Period); n > maxStatistics {
		return id, errCombination("You have requested up to %d datapoints, which exceeds the limit of %d. "+
			"You may reduce the datapoints requested by increasing Period, or decreasing the time range.", n, maxStatistics)
	}
	return id, nil
}
