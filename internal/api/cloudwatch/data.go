package cloudwatch

import (
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/metricdata"
)

// mostDatapoints is how many datapoints a page of GetMetricData can have.
const mostDatapoints = 100_800

const (
	newestFirst = "TimestampDescending"
	oldestFirst = "TimestampAscending"
)

type getMetricDataInput struct {
	MetricDataQueries []MetricDataQuery `wrap:"member" max:"500"`
	StartTime         *time.Time
	EndTime           *time.Time
	NextToken         *string `max:"8K"`
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
	results, err := plan.Run(ctx, s.monitor.Source(s.series, s.levels, s.now()), scope(c), *in.StartTime, *in.EndTime)
	if err != nil {
		return nil, failure(err)
	}
	if text(in.ScanBy) != oldestFirst {
		metricdata.Reverse(results)
	}
	most := mostDatapoints
	if in.MaxDatapoints != nil {
		most = int(*in.MaxDatapoints)
	}
	return pageOf(results, text(in.NextToken), most)
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

// pageOf returns as many datapoints as one answer can have, after those of the pages before. The token says how many those
// were.
func pageOf(results []metricdata.Result, token string, most int) (*getMetricDataOutput, error) {
	skip := 0
	if token != "" {
		b, err := base64.RawURLEncoding.DecodeString(token)
		digits, ok := strings.CutPrefix(string(b), "after ")
		if skip, _ = strconv.Atoi(digits); err != nil || !ok || skip <= 0 {
			return nil, errToken()
		}
	}
	out := &getMetricDataOutput{MetricDataResults: []MetricDataResult{}, Messages: []MessageData{}}
	before, end := 0, skip+most
	for _, r := range results {
		n := len(r.Points)
		from, to := min(max(skip-before, 0), n), min(max(end-before, 0), n)
		before += n
		if from == to && (n > 0 || skip > 0) { // it is on another page; what has no datapoints is on the first
			continue
		}
		shown := MetricDataResult{Id: r.ID, Label: r.Label, StatusCode: "Complete", Timestamps: []time.Time{}, Values: []float64{}}
		if to < n {
			shown.StatusCode = "PartialData"
		}
		for _, p := range r.Points[from:to] {
			shown.Timestamps = append(shown.Timestamps, p.Time)
			shown.Values = append(shown.Values, p.Value)
		}
		out.MetricDataResults = append(out.MetricDataResults, shown)
	}
	if before > end {
		out.NextToken = base64.RawURLEncoding.EncodeToString([]byte("after " + strconv.Itoa(end)))
	}
	return out, nil
}
