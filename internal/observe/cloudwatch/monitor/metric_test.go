package monitor_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/budget"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Metrics of programs are added up by the minute, across hours, and survive a restart.
func TestPut(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := series.ID{
		Scope: scope, Namespace: "Workers", Metric: "Backlog",
		Dimensions: []series.Dimension{{Name: "Fleet", Value: "a"}, {Name: "Zone", Value: "z"}},
	}
	other := id
	other.Dimensions = []series.Dimension{id.Dimensions[1], id.Dimensions[0]} // the same, in another order
	at := time.Date(2026, 11, 21, 11, 58, 0, 0, time.UTC)
	for minute := range 5 {
		samples := []monitor.Sample{
			{ID: id, Unit: "Count",
				Point: series.Sample(at.Add(time.Duration(minute)*time.Minute+7*time.Second), float64(minute))},
			{ID: other, Unit: "Count",
				Point: series.Point{
					Time: at.Add(time.Duration(minute) * time.Minute), Count: 3, Sum: 30, Min: 5, Max: 15,
				}},
		}
		if err := r.Put(context.Background(), samples); err != nil {
			t.Fatal(err)
		}
	}
	r.restart()
	reader := r.Reader(r.metrics)
	points, err := reader.Read(context.Background(), id, at.Add(time.Minute), at.Add(4*time.Minute), time.Minute)
	if got, want := fmt.Sprint(points), fmt.Sprint([]series.Point{
		{Time: at.Add(time.Minute), Count: 4, Sum: 31, Min: 1, Max: 15},
		{Time: at.Add(2 * time.Minute), Count: 4, Sum: 32, Min: 2, Max: 15},
		{Time: at.Add(3 * time.Minute), Count: 4, Sum: 33, Min: 3, Max: 15},
	}); err != nil || got != want {
		t.Errorf("got %s, %v", got, err)
	}
	ids, err := reader.List(context.Background(), series.Filter{Scope: scope, Since: at})
	if err != nil || len(ids) != 1 || !ids[0].Equal(id) || !slices.Equal(r.Units(other), []string{"Count"}) {
		t.Errorf("got %v, %v", ids, err)
	}
	if ids, err := reader.List(context.Background(), series.Filter{
		Scope: scope, Since: at.Add(3 * time.Hour),
	}); err != nil || len(ids) != 0 {
		t.Errorf("recent metrics are %v, %v", ids, err)
	}
	other.Metric = "Else"
	if points, err := reader.Read(context.Background(), other, at, at.Add(time.Hour), time.Minute); err != nil ||
		points != nil {
		t.Errorf("got %v, %v", points, err)
	}
}

func TestTooManyMetrics(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	put := func(from, n int) error {
		var samples []monitor.Sample
		for i := range n {
			samples = append(samples, monitor.Sample{
				ID:    series.ID{Scope: scope, Namespace: "Mine", Metric: fmt.Sprint("m", from+i)},
				Point: series.Sample(start, 1),
			})
		}
		return r.Put(context.Background(), samples)
	}
	if err := put(0, monitor.MaxMetrics-1); err != nil {
		t.Fatal(err)
	}
	if err := put(monitor.MaxMetrics-1, 2); !errors.Is(err, monitor.ErrTooManyMetrics) {
		t.Errorf("got %v", err)
	}
	if err := put(monitor.MaxMetrics-2, 2); err != nil {
		t.Errorf("the last possible metric: %v", err)
	}
}

// Each unit of a metric is a separate series, and all of them together are one metric. This holds after a restart, and
// when the first unit has no points any more.
func TestUnits(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := series.ID{Scope: scope, Namespace: "Workers", Metric: "Load"}
	put := func(unit string, at time.Time, value float64) {
		t.Helper()
		if err := r.Put(t.Context(),
			[]monitor.Sample{{ID: id, Unit: unit, Point: series.Sample(at, value)},
				{ID: id, Unit: unit, Point: series.Sample(at, value)}}); err != nil {
			t.Fatal(err)
		}
	}
	sums := func(at time.Time) string {
		t.Helper()
		var out []string
		for _, unit := range append([]string{""}, r.Units(id)...) {
			of := id
			of.Unit = unit
			points, err := r.Reader(r.metrics).Read(t.Context(), of, at, at.Add(time.Minute), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range points {
				out = append(out, fmt.Sprint(unit, "=", p.Sum))
			}
		}
		return strings.Join(out, " ")
	}
	put("Count", start, 1)
	put("Bytes", start, 10)
	put("Count", start, 2)
	r.restart()
	put("Bytes", start, 20)
	if got := sums(start); got != "=66 Bytes=60 Count=6" {
		t.Error(got)
	}
	ids, err := r.Reader(r.metrics).List(t.Context(), series.Filter{Scope: scope, Since: start})
	if err != nil || len(ids) != 1 {
		t.Errorf("%v, %v", ids, err)
	}
	later := start.Add(monitor.PointsKept - time.Hour)
	put("Bytes", later, 1)
	if err := r.Sweep(t.Context(), start.Add(monitor.PointsKept+2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	put("Bytes", later, 2)
	put("Count", later, 5)
	if got := sums(later); got != "=16 Bytes=6 Count=10" {
		t.Error(got)
	}
}

// An alarm with a period below a minute fires within that period, and is evaluated without all others.
func TestFineAlarms(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	id := series.ID{Scope: scope, Namespace: "Workers", Metric: "Load"}
	fine, coarse := backlog(), backlog()
	fine.Metric = &metricdata.Stat{
		Namespace: id.Namespace, Metric: id.Metric, Period: 10 * time.Second, Statistic: "Maximum",
	}
	fine.Periods, fine.ToAlarm = 1, 1
	coarse.Name.Name = "coarse"
	r.change(func(tx *monitor.Tx) error { return errors.Join(tx.Create(fine, start), tx.Create(coarse, start)) })
	states := func(now time.Time) string {
		t.Helper()
		if err := r.evaluator.EvaluateFine(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		return string(r.Alarm(fine.Name).State + " " + r.Alarm(coarse.Name).State)
	}
	now := start.Truncate(time.Minute).Add(20 * time.Second)
	r.visible(now, 100)
	for _, step := range []struct {
		value float64
		want  string
	}{{1, "OK INSUFFICIENT_DATA"}, {99, "ALARM INSUFFICIENT_DATA"}, {2, "OK INSUFFICIENT_DATA"}} {
		sample := monitor.Sample{
			ID: id, Unit: "None", Point: series.Sample(now.Add(3*time.Second), step.value), Fine: true,
		}
		if err := r.Put(t.Context(), []monitor.Sample{sample}); err != nil {
			t.Fatal(err)
		}
		if now = now.Add(10 * time.Second); states(now.Add(5*time.Second)) != step.want {
			t.Errorf("after %v: %s, want %s", step.value, states(now), step.want)
		}
	}
	r.restart()
	if _, problems, err := monitor.Check(r.store); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}

// The cost of listing metrics depends on the account's own metrics, however many others have.
func TestListsReadTheMetricsOfTheirAccount(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const other = "000000000001"
	send := func(account string, n int) {
		t.Helper()
		var samples []monitor.Sample
		for i := range n {
			id := series.ID{
				Scope: series.Scope{Account: account, Region: scope.Region}, Namespace: "Mine", Metric: fmt.Sprint(i),
			}
			samples = append(samples, monitor.Sample{ID: id, Unit: "None", Point: series.Sample(start, 1)})
		}
		if err := r.Put(t.Context(), samples); err != nil {
			t.Fatal(err)
		}
	}
	lists := func(account string, want, work int) {
		t.Helper()
		ctx, end := budget.New(budget.Size).Begin(t.Context(), account)
		defer end()
		f := series.Filter{Scope: series.Scope{Account: account, Region: scope.Region}, Namespace: "Mine"}
		ids, err := r.Reader(r.metrics).List(ctx, f)
		if n := budget.Of(ctx).Worked(); err != nil || len(ids) != want || n != work {
			t.Errorf("%s has %d metrics, of %d that were read, %v", account, len(ids), n, err)
		}
	}
	send(other, 900)
	send(scope.Account, 3)
	lists(scope.Account, 3, 3)
	r.restart()
	lists(scope.Account, 3, 3)
	lists(other, 900, 900)
	if err := r.Sweep(t.Context(), start.Add(2*monitor.PointsKept)); err != nil {
		t.Fatal(err)
	}
	lists(other, 0, 0)
	send(other, monitor.MaxMetrics)
	err := r.Put(t.Context(), []monitor.Sample{{
		ID:   series.ID{Scope: series.Scope{Account: other, Region: "made-up"}, Namespace: "Mine", Metric: "m"},
		Unit: "None", Point: series.Sample(start, 1),
	}})
	if !errors.Is(err, monitor.ErrTooManyMetrics) {
		t.Error(err)
	}
}
