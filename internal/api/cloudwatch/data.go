package cloudwatch

import (
	"context"
	"time"
	"unsafe"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/metricdata"
)

// mostDatapoints is how many datapoints a page of GetMetricData can have.
const mostDatapoints = 100_800

// shownBytes is how much memory a datapoint of a page takes.
const shownBytes = int(unsafe.Sizeof(time.Time{}) + unsafe.Sizeof(float64(0)))

const (
	newestFirst = "TimestampDescending"
	oldestFirst = "TimestampAscending"
)

type getMetricDataInput struct {
	MetricDataQueries []MetricDataQuery `wrap:"member" max:"500"`
	StartTime         *time.Time
	EndTime           *time.Time
	NextToken         *string `max:"16K"`
	ScanBy            *string `max:"32"`
	MaxDatapoints     *int32
}

type getMetricDataOutput struct {
	MetricDataResults []MetricDataResult `wrap:"member" json:",always"`
	NextToken         string             `json:",omitempty"`
	Messages          []MessageData      `wrap:"member" json:",always"`
}

// MetricDataResult is the answer to a query.
type MetricDataResult struct {
	Id         string
	Label      string
	Timestamps []time.Time `wrap:"member" json:",always"`
	Values     []float64   `wrap:"member" json:",always"`
	StatusCode string
}

// MessageData is a remark about an answer. There are none at present.
type MessageData struct {
	Code  string
	Value string
}

func (s *Service) getMetricData(ctx context.Context, c *protocol.Call, in *getMetricDataInput) (*getMetricDataOutput, error) {
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
	results, err := plan.Run(ctx, s.monitor.Source(s.series, s.levels, at.now), scope(c), *in.StartTime, *in.EndTime)
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
	out := &getMetricDataOutput{Messages: []MessageData{}}
	out.MetricDataResults, out.NextToken = at.page(in.shown(results), most)
	return out, nil
}

func (in *getMetricDataInput) check(c *protocol.Call) (*metricdata.Plan, error) {
	var v protocol.Violations
	if len(in.MetricDataQueries) == 0 {
		v.Required("metricDataQueries", nil)
	}
	if in.StartTime == nil {
		v.Required("startTime", nil)
	}
	if in.EndTime == nil {
		v.Required("endTime", nil)
	}
	v.Enum("scanBy", in.ScanBy, newestFirst, oldestFirst)
	v.Range("maxDatapoints", in.MaxDatapoints, 1, mostDatapoints)
	queries := checkQueries(&v, "metricDataQueries", in.MetricDataQueries)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if !in.StartTime.Before(*in.EndTime) {
		return nil, protocol.ValidationError("The parameter StartTime must be less than the parameter EndTime.")
	}
	if err := checkAccounts(in.MetricDataQueries, service.Caller(c).Account); err != nil {
		return nil, err
	}
	plan, err := metricdata.Check(queries)
	return plan, failure(err)
}
