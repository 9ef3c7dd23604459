package cloudwatch

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
)

const (
	mostData = 1000    // metrics in a request
	maxPut   = 1 << 20 // bytes in a request
	// The maximum age of a sample, and its maximum time ahead of the server's clock.
	oldestSample = 14 * 24 * time.Hour
	newestSample = 2 * time.Hour
	// mostValue is the maximum magnitude of a value.
	mostValue = 0x1p360
)

type putMetricDataInput struct {
	Namespace              *string            `max:"255"`
	MetricData             []MetricDatum      `max:"1000" wrap:"member"`
	EntityMetricData       []entityMetricData `max:"2"    wrap:"member"`
	StrictEntityValidation *bool
}

// entityMetricData holds samples with their entity. The entity is not stored, but the samples count.
type entityMetricData struct {
	Entity     *entity
	MetricData []MetricDatum `wrap:"member" max:"1000"`
}

type entity struct {
	KeyAttributes map[string]string `wrap:"entry" entry:"key,value" max:"4,32,2048"`
	Attributes    map[string]string `wrap:"entry" entry:"key,value" max:"10,256,2048"`
}

// MetricDatum holds samples of a metric.
type MetricDatum struct {
	MetricName        *string     `max:"255"`
	Dimensions        []Dimension `max:"30"  wrap:"member"`
	Timestamp         *time.Time
	Value             *float64
	StatisticValues   *statisticSet
	Values            []float64 `max:"150" wrap:"member"`
	Counts            []float64 `max:"150" wrap:"member"`
	Unit              *string   `max:"32"`
	StorageResolution *int32
}

type statisticSet struct {
	SampleCount *float64
	Sum         *float64
	Minimum     *float64
	Maximum     *float64
}

func (s metrics) putMetricData(ctx context.Context, c *protocol.Call, in *putMetricDataInput) (*service.Empty, error) {
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
		owner, _, _ := strings.Cut(*namespace, "/")
		return nil, errValue("The value %s/ for parameter Namespace is invalid.", owner) // as AWS refuses AWS/
	case len(data) == 0:
		return nil, errMissing("MetricData")
	case len(data) > mostData: // including those of EntityMetricData
		return nil, errValue("The collection MetricData must not have a size greater than %d.", mostData)
	}
	var c complaints
	samples := make([]monitor.Sample, 0, len(data))
	for i := range data {
		s := data[i].sample(&c, fmt.Sprintf("MetricData.member.%d.", i+1), now)
		s.ID.Scope, s.ID.Namespace = in, *namespace
		samples = append(samples, s)
	}
	c.characters("Namespace", *namespace)
	return samples, c.err()
}

// sample returns the sample in the datum; at is the prefix of its parameters' names.
func (d *MetricDatum) sample(c *complaints, at string, now time.Time) monitor.Sample {
	s := monitor.Sample{
		ID:   series.ID{Metric: text(d.MetricName), Dimensions: newDimensions(c, at+"Dimensions", d.Dimensions)},
		Unit: "None",
	}
	if c.require(at+"MetricName", d.MetricName) {
		c.characters(at+"MetricName", *d.MetricName)
	}
	c.oneOf(at+"Unit", d.Unit, units)
	if d.Unit != nil {
		s.Unit = *d.Unit
	}
	resolution := d.StorageResolution
	if resolution != nil && *resolution != 1 && *resolution != 60 {
		c.value("The parameter %sStorageResolution must be a value in the set [1, 60].", at)
	}
	s.Point = d.point(c, at)
	s.Point.Time = d.time(c, at, now)
	s.Fine = resolution != nil && *resolution == 1 && now.Sub(s.Point.Time) <= monitor.SecondsKept
	return s
}

// time returns the time of the samples.
func (d *MetricDatum) time(c *complaints, at string, now time.Time) time.Time {
	switch {
	case d.Timestamp == nil:
		return now
	case now.Sub(*d.Timestamp) > oldestSample:
		c.value("The parameter %sTimestamp must specify a time within the past two weeks.", at)
	case d.Timestamp.Sub(now) > newestSample:
		c.value("The parameter %sTimestamp must specify a time no more than two hours in the future.", at)
	}
	return *d.Timestamp
}

const sameDimension = "No metric may specify the same dimension name twice."

// newDimensions returns the dimensions of a metric that a program sends. at is the parameter's name.
func newDimensions(c *complaints, at string, in []Dimension) []series.Dimension {
	var out []series.Dimension
	for i, d := range in {
		of := fmt.Sprintf("%s.member.%d.", at, i+1)
		if checkDimensionText(c, of+"Name", d.Name) && strings.HasPrefix(*d.Name, ":") {
			c.value("The parameter %sName must not begin with a colon.", of)
		}
		checkDimensionText(c, of+"Value", d.Value)
		out = append(out, series.Dimension{Name: text(d.Name), Value: text(d.Value)})
	}
	if name, ok := twice(out); ok && name != "" {
		c.value(sameDimension)
	}
	return out
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}

// checkDimensionText checks the name or value of a dimension. name is the parameter's.
func checkDimensionText(c *complaints, name string, text *string) bool {
	switch {
	case !c.require(name, text):
		return false
	case c.characters(name, *text) && strings.TrimSpace(*text) == "":
		c.value("The parameter %s must have a character that is no space.", name)
	}
	return true
}

// characters checks that a text has the characters that names of metrics, namespaces and dimensions can have.
func (c *complaints) characters(name, text string) bool {
	switch {
	case !isASCII(text):
		c.value("The value for parameter %s contains non-ASCII characters.", name)
	case strings.ContainsFunc(text, unicode.IsControl):
		c.value("The parameter %s must not have control characters.", name)
	default:
		return true
	}
	return false
}

// point returns the samples as a point. If both are present, StatisticValues hold the statistics, and Values the
// distribution of the samples: agents send condensed samples in this form.
func (d *MetricDatum) point(c *complaints, at string) series.Point {
	const both = "The parameters %[1]s%[2]s and %[1]s%[3]s are mutually exclusive and you have specified both."
	switch {
	case d.Value != nil && d.StatisticValues != nil:
		c.combination(both, at, "Value", "StatisticValues")
	case d.Value != nil && len(d.Values) > 0:
		c.combination(both, at, "Value", "Values")
	case d.Value != nil:
		c.number(at+"Value", *d.Value)
		return series.Sample(time.Time{}, *d.Value)
	case d.StatisticValues != nil:
		p := d.StatisticValues.point(c, at+"StatisticValues.")
		if len(d.Values) > 0 {
			p.Samples = d.distribution(c, at).Samples
		}
		return p
	case len(d.Values) > 0:
		return d.distribution(c, at)
	default:
		c.combination("At least one of the parameters %[1]sValue and %[1]sStatisticValues must be specified.", at)
	}
	return series.Point{}
}

func (s *statisticSet) point(c *complaints, at string) (p series.Point) {
	for _, field := range []struct {
		name  string
		given *float64
		to    *float64
	}{
		{"SampleCount", s.SampleCount, &p.Count}, {"Sum", s.Sum, &p.Sum},
		{"Minimum", s.Minimum, &p.Min}, {"Maximum", s.Maximum, &p.Max},
	} {
		if field.given == nil {
			complain(&c.missing, "The parameter %s%s is required.", at, field.name)
		} else if c.number(at+field.name, *field.given) {
			*field.to = *field.given
		}
	}
	switch {
	case s.SampleCount != nil && p.Count <= 0:
		c.value("The parameter %sSampleCount must be greater than 0.", at)
	case p.Min > p.Max:
		c.value("The parameter %[1]sMaximum must be greater than or equal to the parameter %[1]sMinimum.", at)
	}
	return p
}

// distribution returns the point of Values and Counts, with its samples.
func (d *MetricDatum) distribution(c *complaints, at string) (p series.Point) {
	if d.Counts != nil && len(d.Counts) != len(d.Values) {
		c.value("The parameters %[1]sValues and %[1]sCounts must be of the same size.", at)
		return p
	}
	samples := make([]sketch.Value, 0, len(d.Values))
	for i, value := range d.Values {
		n := 1.0
		if d.Counts != nil {
			n = d.Counts[i]
		}
		name := fmt.Sprintf("member.%d", i+1)
		if !c.number(at+"Values."+name, value) || !c.number(at+"Counts."+name, n) {
			continue
		}
		if n <= 0 {
			c.value("The parameter %sCounts.%s must be greater than 0.", at, name)
			continue
		}
		samples = append(samples, sketch.Value{Value: value, Count: n})
		p = p.Merge(series.Point{Count: n, Sum: n * value, Min: value, Max: value})
	}
	if len(samples) > 0 && p.Min >= 0 {
		p.Samples = sketch.Of(samples...)
	}
	return p
}
