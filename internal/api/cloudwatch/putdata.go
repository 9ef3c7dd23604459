package cloudwatch

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/monitor"
	"github.com/sluicemq/sluice/internal/observe/series"
)

const (
	mostData = 1000 // metrics in a request
	// A sample may be so old, or so far ahead of the server's clock.
	oldestSample = 14 * 24 * time.Hour
	newestSample = 2 * time.Hour
	// mostValue is the largest number that a value can be.
	mostValue = 0x1p360
)

type putMetricDataInput struct {
	Namespace              *string            `max:"255"`
	MetricData             []MetricDatum      `wrap:"member" max:"1000"`
	EntityMetricData       []entityMetricData `wrap:"member" max:"2"`
	StrictEntityValidation *bool
}

// entityMetricData are samples with what they are about. That is not kept: the samples count.
type entityMetricData struct {
	Entity     *entity
	MetricData []MetricDatum `wrap:"member" max:"1000"`
}

type entity struct {
	KeyAttributes map[string]string `wrap:"entry" entry:"key,value" max:"4,32,2048"`
	Attributes    map[string]string `wrap:"entry" entry:"key,value" max:"10,256,2048"`
}

// MetricDatum are samples of a metric.
type MetricDatum struct {
	MetricName        *string     `max:"255"`
	Dimensions        []Dimension `wrap:"member" max:"30"`
	Timestamp         *time.Time
	Value             *float64
	StatisticValues   *statisticSet
	Values            []float64 `wrap:"member" max:"150"`
	Counts            []float64 `wrap:"member" max:"150"`
	Unit              *string   `max:"32"`
	StorageResolution *int32
}

type statisticSet struct {
	SampleCount *float64
	Sum         *float64
	Minimum     *float64
	Maximum     *float64
}

func (s *Service) putMetricData(ctx context.Context, c *protocol.Call, in *putMetricDataInput) (*service.Empty, error) {
	now := s.now()
	data := in.MetricData
	for _, e := range in.EntityMetricData {
		data = append(data, e.MetricData...)
	}
	samples, err := check(scope(c), in.Namespace, data, now)
	if err != nil {
		return nil, err
	}
	if err := s.allow(c, "PutMetricData", service.Subject{Lookup: func(name string) (policy.Value, bool) {
		return policy.Text(*in.Namespace), name == "cloudwatch:namespace"
	}}); err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	return nil, failure(s.monitor.Put(ctx, samples))
}

// check returns the samples of a request.
func check(in series.Scope, namespace *string, data []MetricDatum, now time.Time) ([]monitor.Sample, error) {
	switch {
	case namespace == nil || *namespace == "":
		return nil, errMissing("Namespace")
	case strings.HasPrefix(*namespace, ":"):
		return nil, errValue("The value %s for parameter Namespace is invalid. It must not begin with a colon.", *namespace)
	case monitor.IsOwn(*namespace):
		return nil, errValue("The value %s for parameter Namespace is invalid. Namespaces that begin with AWS/ or Sluice/ belong to the server.", *namespace)
	case len(data) == 0:
		return nil, errMissing("MetricData")
	case len(data) > mostData: // with those of EntityMetricData
		return nil, errValue("The collection MetricData must not have a size greater than %d.", mostData)
	}
	samples := make([]monitor.Sample, 0, len(data))
	for i, d := range data {
		at := fmt.Sprintf("MetricData.member.%d.", i+1)
		if d.MetricName == nil || *d.MetricName == "" {
			return nil, errMissing(at + "MetricName")
		}
		id := series.ID{Scope: in, Namespace: *namespace, Metric: *d.MetricName}
		if strings.ContainsFunc(id.Namespace+id.Metric, unicode.IsControl) {
			return nil, errValue("The names of the metric %s must not have control characters.", strconv.QuoteToASCII(id.Metric))
		}
		var err error
		if id.Dimensions, err = newDimensions(at+"Dimensions", d.Dimensions); err != nil {
			return nil, err
		}
		if d.Unit != nil && !slices.Contains(units, *d.Unit) {
			return nil, errValue("The parameter %sUnit must be a value in the set [ %s ].", at, strings.Join(units, ", "))
		}
		p, err := d.point(at, now)
		if err != nil {
			return nil, err
		}
		unit := text(d.Unit)
		if unit == "" {
			unit = "None"
		}
		samples = append(samples, monitor.Sample{ID: id, Unit: unit, Point: p, Fine: d.isFine() && now.Sub(p.Time) <= monitor.SecondsKept})
	}
	return samples, nil
}

// isFine reports whether samples are of high resolution.
func (d *MetricDatum) isFine() bool { return d.StorageResolution != nil && *d.StorageResolution == 1 }

// newDimensions returns the dimensions of a metric that a program sends. at is the parameter's name.
func newDimensions(at string, in []Dimension) ([]series.Dimension, error) {
	var out []series.Dimension
	for i, d := range in {
		of := fmt.Sprintf("%s.member.%d.", at, i+1)
		if err := checkDimensionText(of+"Name", d.Name); err != nil {
			return nil, err
		}
		if strings.HasPrefix(*d.Name, ":") {
			return nil, errValue("The parameter %sName must not begin with a colon.", of)
		}
		if err := checkDimensionText(of+"Value", d.Value); err != nil {
			return nil, err
		}
		out = append(out, series.Dimension{Name: *d.Name, Value: *d.Value})
	}
	if name, ok := twice(out); ok {
		return nil, errValue("The parameter %s has the name %s more than once.", at, name)
	}
	return out, nil
}

// checkDimensionText checks the name or value of a dimension. name is the parameter's.
func checkDimensionText(name string, text *string) error {
	switch {
	case text == nil || *text == "":
		return errMissing(name)
	case strings.ContainsFunc(*text, func(r rune) bool { return r < ' ' || r > '~' }):
		return errValue("The parameter %s must have only ASCII characters, and no control characters.", name)
	case strings.TrimSpace(*text) == "":
		return errValue("The parameter %s must have a character that is no space.", name)
	}
	return nil
}

// point returns what the samples are together.
func (d *MetricDatum) point(at string, now time.Time) (p series.Point, err error) {
	when := now
	if d.Timestamp != nil {
		when = *d.Timestamp
	}
	switch given := countGiven(d.Value != nil, d.StatisticValues != nil, d.Values != nil); {
	case given == 0:
		return p, errMissing(at + "Value")
	case given > 1:
		return p, errCombination("The parameters %[1]sValue, %[1]sStatisticValues and %[1]sValues are mutually exclusive and you have specified more than one.", at)
	case now.Sub(when) > oldestSample || when.Sub(now) > newestSample:
		return p, errValue("The parameter %sTimestamp must specify a time no more than two weeks in the past and no more than two hours in the future.", at)
	case d.StorageResolution != nil && *d.StorageResolution != 1 && *d.StorageResolution != 60:
		return p, errValue("The parameter %sStorageResolution must be 1 or 60.", at)
	case d.Value != nil:
		p = series.Sample(when, *d.Value)
	case d.StatisticValues != nil:
		s := d.StatisticValues
		if s.SampleCount == nil || s.Sum == nil || s.Minimum == nil || s.Maximum == nil {
			return p, errMissing(at + "StatisticValues with SampleCount, Sum, Minimum and Maximum")
		}
		p = series.Point{Time: when, Count: *s.SampleCount, Sum: *s.Sum, Min: *s.Minimum, Max: *s.Maximum}
		if p.Count <= 0 || p.Min > p.Max {
			return p, errValue("The parameter %sStatisticValues must have a SampleCount above 0 and a Minimum that is not above the Maximum.", at)
		}
	default:
		if d.Counts != nil && len(d.Counts) != len(d.Values) {
			return p, errValue("The parameters %[1]sValues and %[1]sCounts must have the same number of entries.", at)
		}
		p.Time = when
		for i, value := range d.Values {
			n := 1.0
			if d.Counts != nil {
				n = d.Counts[i]
			}
			if n <= 0 {
				return p, errValue("The parameter %sCounts must have numbers above 0.", at)
			}
			p = p.Merge(series.Point{Time: when, Count: n, Sum: n * value, Min: value, Max: value})
		}
	}
	if slices.ContainsFunc([]float64{p.Count, p.Sum, p.Min, p.Max}, func(n float64) bool { return math.IsNaN(n) || math.Abs(n) > mostValue }) {
		return p, errValue("The values of the parameter %sValue must be between -2^360 and 2^360.", at)
	}
	return p, nil
}

func countGiven(all ...bool) (n int) {
	for _, given := range all {
		if given {
			n++
		}
	}
	return n
}
