package cloudwatch

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/detector"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

const (
	singleMetric  = "SINGLE_METRIC"
	metricMath    = "METRIC_MATH"
	detectorsPage = 100
)

// anomalyDetectors has the operations on anomaly detectors.
type anomalyDetectors struct {
	*core
	detectors *detector.Detectors
	series    series.Reader // what they learn from
	levels    series.Levels
}

func (s anomalyDetectors) register(wire *protocol.Service) {
	protocol.Register(wire, "DeleteAnomalyDetector", s.deleteAnomalyDetector, protocol.Control, protocol.EmptyResult)
	protocol.Register(wire, "DescribeAnomalyDetectors", within(s.core, s.describeAnomalyDetectors))
	protocol.Register(wire, "PutAnomalyDetector", s.putAnomalyDetector, protocol.Control, protocol.EmptyResult)
}

type putAnomalyDetectorInput struct {
	detectorSubject
	Configuration         *AnomalyDetectorConfiguration
	MetricCharacteristics *MetricCharacteristics
}

// AnomalyDetectorConfiguration selects the data that a detector learns from.
type AnomalyDetectorConfiguration struct {
	ExcludedTimeRanges       []Range `max:"10" wrap:"member" json:",always"`
	MetricTimezone           *string `max:"50"`
	AdaptationSpeed          *string `max:"32"`
	OutlierFilteringStrength *string `max:"32"`
}

// Range is a range of times.
type Range struct {
	StartTime *time.Time
	EndTime   *time.Time
}

// MetricCharacteristics describes the metric to its detector.
type MetricCharacteristics struct {
	PeriodicSpikes *bool
}

type putAnomalyDetectorOutput struct {
	AnomalyDetectorId string
}

func (s anomalyDetectors) putAnomalyDetector(
	ctx context.Context, c *protocol.Call, in *putAnomalyDetectorInput,
) (*putAnomalyDetectorOutput, error) {
	d, err := in.detector(scope(c))
	if err != nil {
		return nil, err
	}
	if err := s.allow(c, "PutAnomalyDetector", service.Subject{}); err != nil {
		return nil, err
	}
	if err := s.room(); err != nil {
		return nil, service.NoRoom(err)
	}
	d.Created = s.now().UTC().Truncate(time.Millisecond)
	if err := s.detectors.Put(ctx, d); err != nil {
		return nil, failure(err)
	}
	return &putAnomalyDetectorOutput{d.ID()}, nil
}

// detector returns the detector that a request puts.
func (in *putAnomalyDetectorInput) detector(where series.Scope) (*detector.Detector, error) {
	var c complaints
	d := &detector.Detector{Scope: where, Subject: in.subject(&c)}
	if in.Configuration != nil {
		in.Configuration.check(&c, d)
	}
	if in.MetricCharacteristics != nil {
		d.PeriodicSpikes = in.MetricCharacteristics.PeriodicSpikes
	}
	if err := c.err(); err != nil {
		return nil, err
	}
	return d, in.checkSubject(where.Account, &d.Subject)
}

// check checks the configuration of a detector, and sets it.
func (in *AnomalyDetectorConfiguration) check(c *complaints, d *detector.Detector) {
	for i, r := range in.ExcludedTimeRanges {
		at := entry("Configuration.ExcludedTimeRanges", i)
		switch {
		case r.StartTime == nil:
			complain(&c.missing, "The parameter %sStartTime is required.", at)
		case r.EndTime == nil:
			complain(&c.missing, "The parameter %sEndTime is required.", at)
		case !r.StartTime.Before(*r.EndTime):
			c.value("The parameter %[1]sStartTime must be less than the parameter %[1]sEndTime.", at)
		default:
			d.Excluded = append(d.Excluded, detector.Range{From: r.StartTime.UTC(), To: r.EndTime.UTC()})
		}
	}
	d.Timezone = text(in.MetricTimezone)
	if _, ok := monitor.Location(d.Timezone); !ok {
		c.value("The value %s for parameter Configuration.MetricTimezone is invalid.", d.Timezone)
	}
	c.oneOf("Configuration.AdaptationSpeed", in.AdaptationSpeed, []string{"FAST", "NORMAL", "SLOW"})
	c.oneOf("Configuration.OutlierFilteringStrength", in.OutlierFilteringStrength, []string{
		"MINIMAL", "MODERATE", "STRICT",
	})
	d.AdaptationSpeed, d.OutlierFilteringStrength = text(in.AdaptationSpeed), text(in.OutlierFilteringStrength)
}

type deleteAnomalyDetectorInput struct {
	AnomalyDetectorId *string `max:"128"`
	detectorSubject
}

func (s anomalyDetectors) deleteAnomalyDetector(
	ctx context.Context, c *protocol.Call, in *deleteAnomalyDetectorInput,
) (*service.Empty, error) {
	k := detector.Key{Scope: scope(c), ID: text(in.AnomalyDetectorId)}
	if in.AnomalyDetectorId == nil {
		var bad complaints
		subject := in.subject(&bad)
		if err := bad.err(); err != nil {
			return nil, err
		}
		k.ID = subject.ID()
	} else if in.detectorSubject.kinds() > 0 {
		return nil, errCombination(
			"The parameter AnomalyDetectorId and those of a metric are mutually exclusive and you have specified both.",
		)
	}
	if err := s.allow(c, "DeleteAnomalyDetector", service.Subject{}); err != nil {
		return nil, err
	}
	err := s.detectors.Delete(ctx, k)
	if errors.Is(err, detector.ErrNotFound) {
		return nil, errNoDetector()
	}
	return nil, failure(err)
}
