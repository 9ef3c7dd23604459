//go:build !race

package cluster_test

// The minutes of alarms pass only in a bubble.

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/queueseries"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/queue"
)

// watch has the alarms of a cluster, as each of its nodes evaluates them, and the topics that they publish to.
type watch struct {
	*world
	reach func(node string) // called before a notification reaches its topic
	got   func(node string) // called after it, before the node knows

	mu        sync.Mutex
	monitors  map[string]*monitor.Monitor
	published []string // node and message

}

// publisher publishes for a node.
type publisher struct {
	*watch
	node string
}

// Publish implements monitor.Publisher.
func (p publisher) Publish(ctx context.Context, a *monitor.Action) error {
	p.reach(p.node)
	if err := ctx.Err(); err != nil {
		return err
	}
	p.mu.Lock()
	p.published = append(p.published, a.Subject+" "+a.Message)
	p.mu.Unlock()
	p.got(p.node)
	return ctx.Err()
}

// evaluate evaluates alarms on a node until ctx ends, as its server would.
func (w *watch) evaluate(ctx context.Context, name string) {
	w.t.Helper()
	p := w.at(name)
	m, err := monitor.Open(monitor.Options{Control: p.node.Control()})
	w.must(err)
	w.mu.Lock()
	w.monitors[name] = m
	w.mu.Unlock()
	e := monitor.NewEvaluator(monitor.EvaluatorOptions{
		Monitor: m, Levels: series.Default, Topics: publisher{w, name}, Now: time.Now,
		Log: slog.New(slog.DiscardHandler),
		Reader: queueseries.New(queueseries.Options{
			Source: p.node.Router(), Keep: queue.DefaultKeep, Now: time.Now,
			Queue: func(arn string) (queue.ID, time.Time, bool) {
				if q := p.catalog.Find(named("work")); q != nil && q.Name.ARN() == arn {
					return q.ID, q.Created, true
				}
				return 0, time.Time{}, false
			},
		}),
	})
	w.ending.Go(func() { e.Run(ctx) })
}

var backlogName = monitor.Name{Scope: series.Scope{Account: "000000000000", Region: "us-east-1"}, Name: "backlog"}

// state returns the state of the alarm as a node knows it.
func (w *watch) state(node string) alarm.State {
	w.mu.Lock()
	m := w.monitors[node]
	w.mu.Unlock()
	if a := m.Alarm(backlogName); a != nil {
		return a.State
	}
	return ""
}

// history returns the summaries of the alarm's history, oldest first.
func (w *watch) history(node string) (out []string) {
	w.t.Helper()
	m := w.monitors[node]
	keys, err := m.HistoryKeys(w.t.Context(), monitor.HistoryFilter{Scope: backlogName.Scope})
	w.must(err)
	for _, key := range keys {
		item, err := m.Item(key)
		w.must(err)
		out = append(out, item.Summary)
	}
	return out
}

const (
	toOK    = "Alarm updated from INSUFFICIENT_DATA to OK"
	toAlarm = "Alarm updated from OK to ALARM"
)

// alarmed runs three nodes and an alarm that fires, and kills the node that evaluates it when disturb asks for it. It
// returns some minutes after another node has notified.
func alarmed(t *testing.T, disturb func(w *watch, kill func(node string)), notifications int) {
	inWorld(t, func(world *world) {
		world.options = func(o *cluster.Options) { o.Keep = queue.DefaultKeep }
		world.start("a", "b", "c")
		world.settled("a", "b", "c")
		w := &watch{
			world: world, monitors: make(map[string]*monitor.Monitor), reach: func(string) {}, got: func(string) {},
		}
		evaluating := make(map[string]context.CancelFunc)
		for _, name := range []string{"a", "b", "c"} {
			ctx, cancel := context.WithCancel(w.life)
			evaluating[name] = cancel
			w.evaluate(ctx, name)
		}
		owner := w.controlOwner()
		w.does(func() error { return w.at(owner).create("work", nil) })
		watched := &monitor.Alarm{
			Name: backlogName, ActionsEnabled: true, AlarmActions: []string{"arn:aws:sns:us-east-1:000000000000:ops"},
			Metric: &metricdata.Stat{
				Namespace: series.SQS, Metric: "ApproximateNumberOfMessagesVisible",
				Dimensions: []series.Dimension{{Name: "QueueName", Value: "work"}},
				Period:     time.Minute, Statistic: "Maximum",
			},
			Periods: 1, Threshold: 2, Comparison: alarm.Greater,
		}
		w.must(w.monitors[owner].Change(context.Background(),
			func(tx *monitor.Tx) error { return tx.Create(watched, time.Now()) }))
		w.eventually("there is no backlog", func() bool { return w.state(owner) == alarm.OK })

		// A killed node does nothing more: its next step never happens.
		killed := make(chan string)
		disturb(w, func(node string) {
			evaluating[node]()
			killed <- node
		})
		time.Sleep(17 * time.Second) // within a minute
		began := time.Now()
		for range 3 {
			w.at(owner).send("work", "m")
		}
		dead := <-killed
		if dead != owner {
			t.Errorf("%s has evaluated, and %s owns the control store", dead, owner)
		}
		if d := time.Since(began); d > 90*time.Second || w.state(owner) != alarm.Alarm {
			t.Errorf("after %v the alarm is %s", d, w.state(owner))
		}
		w.kill(owner)
		next := w.controlOwner()
		count := func() int {
			w.mu.Lock()
			defer w.mu.Unlock()
			return len(w.published)
		}
		w.eventually("another node notifies", func() bool { return count() == notifications })
		if d := time.Since(began); d > 150*time.Second {
			t.Errorf("it took %v to notify", d)
		}
		w.pause(5 * time.Minute)
		if all := slices.Compact(slices.Clone(w.published)); count() != notifications || len(all) != 1 {
			t.Errorf("published: %q", w.published)
		}
		history := w.history(next)
		want := []string{`Alarm "backlog" created`, toOK, toAlarm,
			"Successfully executed action arn:aws:sns:us-east-1:000000000000:ops"}
		if w.state(next) != alarm.Alarm || !slices.Equal(history, want) {
			t.Errorf("the alarm is %s, its history %q", w.state(next), history)
		}
	})
}

// A node is killed after the transition is stored, and before the topic has the notification: the next owner sends it.
func TestAlarmOfKilledNode(t *testing.T) {
	alarmed(t, func(w *watch, kill func(string)) {
		var once sync.Once
		w.reach = func(node string) { once.Do(func() { kill(node) }) }
	}, 1)
}

// A node is killed after the topic has the notification, and before that is stored: the next owner sends it again, and
// the history contains it once.
func TestNotificationOfKilledNode(t *testing.T) {
	alarmed(t, func(w *watch, kill func(string)) {
		var once sync.Once
		w.got = func(node string) { once.Do(func() { kill(node) }) }
	}, 2)
}
