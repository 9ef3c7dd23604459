package monitor_test

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// slow is an alarm on the 90th percentile of a metric above 10.
func slow() *monitor.Alarm {
	a := backlog()
	a.Metric = &metricdata.Stat{
		Namespace: latency.Namespace, Metric: latency.Metric, Period: time.Minute, Statistic: "p90",
	}
	return a
}

// values stores this many samples of 1 and of 100 in the minute before now.
func (r *rig) values(now time.Time, low, high int) {
	r.Helper()
	for i := range low + high {
		value := 1.0
		if i >= low {
			value = 100
		}
		r.put(series.Sample(now.Add(-time.Minute), value))
	}
}

// An alarm on a percentile follows it, and has no data where the samples are unknown.
func TestPercentileAlarm(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(slow(), start) })
	now := start
	for _, step := range []struct {
		put  func(now time.Time)
		want alarm.State
	}{
		{func(now time.Time) { r.values(now, 8, 2) }, alarm.Alarm},
		{func(now time.Time) { r.values(now, 9, 1) }, alarm.OK},
		{func(now time.Time) { r.put(series.Sample(now.Add(-time.Minute), 11)) }, alarm.Alarm},
	} {
		now = now.Add(time.Minute)
		step.put(now)
		if got := r.evaluate(now); got != step.want {
			t.Errorf("%s, want %s", got, step.want)
		}
	}
	now = now.Add(10 * time.Minute)
	for n := range 3 {
		r.put(series.Point{Time: now.Add(time.Duration(n-3) * time.Minute), Count: 2, Sum: 30, Min: 1, Max: 29})
	}
	if got := r.evaluate(now); got != alarm.Insufficient {
		t.Errorf("for unknown samples the state is %s", got)
	}
}

// An alarm that ignores low sample counts keeps its state while there are too few samples for its percentile.
func TestLowSampleCount(t *testing.T) {
	t.Parallel()
	for ignore, want := range map[string]alarm.State{
		"ignore": alarm.Insufficient, "evaluate": alarm.Alarm, "": alarm.Alarm,
	} {
		r := newRig(t)
		a := slow()
		a.LowSamples = ignore
		r.change(func(tx *monitor.Tx) error { return tx.Create(a, start) })
		now := start.Add(time.Minute)
		r.values(now, 49, 50) // p90 needs a hundred
		if got := r.evaluate(now); got != want {
			t.Errorf("%q: %s, want %s", ignore, got, want)
		}
		r.values(now, 0, 1)
		if got := r.evaluate(now); got != alarm.Alarm {
			t.Errorf("%q, with enough samples: %s", ignore, got)
		}
	}
}
