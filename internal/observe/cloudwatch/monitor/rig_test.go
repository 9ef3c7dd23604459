package monitor_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

var (
	scope = series.Scope{Account: "000000000000", Region: "us-east-1"}
	start = time.Date(2026, 11, 21, 12, 0, 5, 0, time.UTC)
)

// rig is a monitor with its control store, the metrics that it watches, and the topics that it publishes to.
type rig struct {
	*testing.T
	*monitor.Monitor
	store     *store.Store
	control   *control.Control
	metrics   *series.Memory
	topics    *topics
	mutes     mutes
	evaluator *monitor.Evaluator
}

func newRig(t *testing.T) *rig {
	t.Helper()
	s := storetest.Memory(t)
	r := &rig{T: t, store: s, metrics: new(series.Memory), topics: new(topics)}
	r.restart()
	return r
}

// restart opens the monitor again, as a starting server does, or a node that takes over.
func (r *rig) restart() {
	r.Helper()
	r.control = control.New(control.Options{Store: r.store})
	m, err := monitor.Open(monitor.Options{Control: r.control, Mutes: &r.mutes})
	if err != nil {
		r.Fatal(err)
	}
	r.Monitor = m
	r.evaluator = monitor.NewEvaluator(monitor.EvaluatorOptions{
		Monitor: m, Reader: r.metrics, Levels: series.Default, Topics: r.topics, Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
	})
}

// change makes a change that must succeed.
func (r *rig) change(f func(tx *monitor.Tx) error) {
	r.Helper()
	if err := r.Change(context.Background(), f); err != nil {
		r.Fatal(err)
	}
}

const topic = "arn:aws:sns:us-east-1:000000000000:ops"

// backlog is an alarm on more than ten visible messages of the queue q.
func backlog() *monitor.Alarm {
	return &monitor.Alarm{
		Name: monitor.Name{Scope: scope, Name: "backlog"}, Description: "too much", ActionsEnabled: true,
		AlarmActions: []string{topic}, OKActions: []string{topic + "-ok"},
		Metric: &metricdata.Stat{
			Namespace: series.SQS, Metric: "ApproximateNumberOfMessagesVisible",
			Dimensions: []series.Dimension{{Name: "QueueName", Value: "q"}},
			Period:     time.Minute, Statistic: "Average",
		},
		Periods: 1, Threshold: 10, Comparison: alarm.Greater,
	}
}

// visible gives the queue a sample in the minute before now.
func (r *rig) visible(now time.Time, n float64) {
	m := backlog().Metric
	r.metrics.Add(series.ID{Scope: scope, Namespace: m.Namespace, Metric: m.Metric, Dimensions: m.Dimensions},
		series.Sample(now.Add(-time.Minute), n))
}

// evaluate evaluates all alarms, and returns the state of one.
func (r *rig) evaluate(now time.Time) alarm.State {
	r.Helper()
	if err := r.evaluator.Evaluate(context.Background(), now); err != nil {
		r.Fatal(err)
	}
	return r.Alarm(backlog().Name).State
}

// items returns the summaries of the history, oldest first.
func (r *rig) items(f monitor.HistoryFilter) (out []*monitor.Item) {
	r.Helper()
	f.Scope = scope
	keys, err := r.HistoryKeys(context.Background(), f)
	if err != nil {
		r.Fatal(err)
	}
	for _, k := range keys {
		i, err := r.Item(k)
		if err != nil {
			r.Fatal(err)
		}
		out = append(out, i)
	}
	return out
}

// topics records the published notifications.
type topics struct {
	mu        sync.Mutex
	published []published
	fails     error
}

type published struct {
	topic, subject, message, id string
}

func (t *topics) Publish(_ context.Context, a *monitor.Action) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fails != nil {
		return t.fails
	}
	t.published = append(t.published, published{a.Target, a.Subject, a.Message, a.ID()})
	return nil
}

var errDown = errors.New("the topic is down")
