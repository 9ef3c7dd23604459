package monitor_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

var errUnreadable = errors.New("the disk is on fire")

// unreadable is a reader of metrics that fails.
type unreadable struct{ series.Reader }

func (unreadable) Read(context.Context, series.ID, time.Time, time.Time, time.Duration) ([]series.Point, error) {
	return nil, errUnreadable
}

func (unreadable) ReadSamples(context.Context, series.ID, time.Time, time.Time, time.Duration) ([]series.Point, error) {
	return nil, errUnreadable
}

// An alarm that cannot be evaluated keeps its state, and its record has the reason until it can.
func TestTrouble(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	now := start.Add(time.Minute)
	r.visible(now, 11)
	r.evaluator.Reader = unreadable{r.metrics}
	if err := r.evaluator.Evaluate(context.Background(), now); !errors.Is(err, errUnreadable) {
		t.Fatal(err)
	}
	a := r.Alarm(backlog().Name)
	if a.Trouble == nil || *a.Trouble != (monitor.Trouble{Kind: monitor.Unreadable}) ||
		a.State != alarm.Insufficient || !a.StateSet.Equal(now) {
		t.Fatalf("it is %+v with %+v", a, a.Trouble)
	}
	now = now.Add(time.Minute)
	r.visible(now, 11)
	if err := r.evaluator.Evaluate(context.Background(), now); !errors.Is(err, errUnreadable) || r.Alarm(a.Name) != a {
		t.Errorf("the same reason is recorded again, or there is %v", err)
	}
	r.evaluator.Reader = r.metrics
	if got := r.evaluate(now); got != alarm.Alarm || r.Alarm(a.Name).Trouble != nil {
		t.Errorf("it is %s, with %v", got, r.Alarm(a.Name).Trouble)
	}
}

// An alarm whose query returns several time series must be changed.
func TestMisconfigured(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bad := backlog()
	bad.Queries = []metricdata.Query{{
		ID: "q", Expression: "SEARCH('{AWS/SQS,QueueName}', 'Sum', 60)", Return: true,
	}}
	bad.Metric = nil
	r.change(func(tx *monitor.Tx) error { return tx.Create(bad, start) })
	now := start.Add(time.Minute)
	if err := r.evaluator.Evaluate(context.Background(), now); err == nil {
		t.Fatal("no error")
	}
	const want = "The alarm cannot be evaluated: its expression results in 0 time series, and an alarm watches one."
	trouble := monitor.Trouble{Kind: monitor.Misconfigured, Reason: want}
	if got := r.Alarm(bad.Name).Trouble; got == nil || *got != trouble {
		t.Errorf("the trouble is %+v", got)
	}
	r.change(func(tx *monitor.Tx) error { return tx.Update(r.Alarm(bad.Name), backlog(), now) })
	r.visible(now, 11)
	if got := r.evaluate(now); got != alarm.Alarm || r.Alarm(bad.Name).Trouble != nil {
		t.Errorf("it is %s, with %v", got, r.Alarm(bad.Name).Trouble)
	}
}

// An interrupted evaluation does not affect its alarm.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = r.evaluator.Evaluate(ctx, start.Add(time.Minute)) // it fails, or there was nothing to read
	if a := r.Alarm(backlog().Name); a.Trouble != nil {
		t.Errorf("it has %+v", a.Trouble)
	}
}
