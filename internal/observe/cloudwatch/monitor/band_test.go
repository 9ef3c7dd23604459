package monitor_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
)

// unusual is an alarm on a backlog that differs from earlier days.
func unusual() *monitor.Alarm {
	a := backlog()
	a.Threshold, a.Comparison, a.ThresholdID, a.ToAlarm = 0, alarm.Outside, "ad1", 1
	a.Queries = []metricdata.Query{
		{ID: "m1", Stat: a.Metric, Return: true}, {ID: "ad1", Expression: "ANOMALY_DETECTION_BAND(m1, 2)"},
	}
	a.Metric = nil
	return a
}

// An alarm on a band waits for values of earlier days, and then compares each datapoint with its own band.
func TestBands(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(unusual(), start) })
	r.visible(start, 5)
	if got := r.evaluate(start); got != alarm.Insufficient {
		t.Fatalf("without history the alarm is %s", got)
	}
	for days := 1; days < 10; days++ {
		r.visible(start.AddDate(0, 0, -days), float64(90+days%3*10))
	}
	if got := r.evaluate(start); got != alarm.Alarm {
		t.Fatalf("below the band the alarm is %s", got)
	}
	a := r.Alarm(backlog().Name)
	if want := "Thresholds Crossed: 1 out of the last 1 datapoints [5.0 (21/11/26 11:59:00)] was less than the lower thresholds [70.348] " +
		"or greater than the upper thresholds [129.652] (minimum 1 datapoint for OK -> ALARM transition)."; a.Reason != want {
		t.Errorf("the reason is %s", a.Reason)
	}
	var data map[string]any
	if err := json.Unmarshal([]byte(a.ReasonData), &data); err != nil || data["threshold"] != nil ||
		len(data["recentLowerThresholds"].([]any)) != 1 || len(data["recentUpperThresholds"].([]any)) != 1 {
		t.Errorf("the data is %s, %v", a.ReasonData, err)
	}
	next := start.Add(time.Minute)
	for days := 1; days < 10; days++ {
		r.visible(next.AddDate(0, 0, -days), 100)
	}
	r.visible(next, 101)
	if got := r.evaluate(next); got != alarm.OK {
		t.Errorf("within the band the alarm is %s: %s", got, r.Alarm(backlog().Name).Reason)
	}
	if got := r.Alarm(backlog().Name).Reason; !strings.Contains(got, "] was not less than the lower thresholds [") ||
		!strings.Contains(got, "] or not greater than the upper thresholds [") {
		t.Errorf("within the band the reason is %s", got)
	}
	if err := r.evaluator.Deliver(context.Background(), next); err != nil {
		t.Fatal(err)
	}
	message := r.topics.published[0].message
	if !strings.Contains(message, `"ThresholdMetricId":"ad1"`) || strings.Contains(message, `"Threshold":`) {
		t.Errorf("the message is %s", message)
	}
}

// Alarms on bands wait until all programs know them; others do not.
func TestBandsGate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	required, ready := 0, errDown
	m, err := monitor.Open(monitor.Options{Control: control.New(control.Options{Store: r.store}),
		Formats: control.Formats{
			Ready: func(format int) error {
				if format == formats.Detectors {
					return ready
				}
				return nil
			},
			Require: func(format int) error {
				if format == formats.Detectors {
					required++
				}
				return nil
			},
		}})
	if err != nil {
		t.Fatal(err)
	}
	put := func(f func(tx *monitor.Tx) error) error { return m.Change(context.Background(), f) }
	create := func(a *monitor.Alarm) func(tx *monitor.Tx) error {
		return func(tx *monitor.Tx) error { return tx.Create(a, start) }
	}
	if err := put(create(backlog())); err != nil || required != 0 {
		t.Fatalf("%v, required %d times", err, required)
	}
	update := func(tx *monitor.Tx) error { return tx.Update(m.Alarm(backlog().Name), unusual(), start) }
	if err := put(update); err == nil || required != 0 || m.Alarm(backlog().Name).ThresholdID != "" {
		t.Errorf("%v, required %d times", err, required)
	}
	ready = nil
	if err := put(update); err != nil || required != 1 {
		t.Errorf("%v, required %d times", err, required)
	}
}
