package detector

import (
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Training returns how bands learn the expected values of a statistic of a metric: as configured in its detector, if it
// has one.
func (d *Detectors) Training(where series.Scope, s *metricdata.Stat) metricdata.Training {
	subject := Subject{Metric: &metricdata.Stat{
		Namespace: s.Namespace, Metric: s.Metric, Dimensions: s.Dimensions, Statistic: s.Statistic,
	}}
	of := d.Get(Key{where, subject.ID()})
	if of == nil {
		return metricdata.Training{}
	}
	return of.training()
}

func (d *Detector) training() (t metricdata.Training) {
	for _, r := range d.Excluded {
		t.Excluded = append(t.Excluded, metricdata.Range(r))
	}
	if d.Timezone != "" {
		t.Location, _ = time.LoadLocation(d.Timezone) // nil if this system does not know it any more
	}
	return t
}
