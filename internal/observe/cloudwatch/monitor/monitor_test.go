package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
)

func summaries(items []*monitor.Item) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.Summary)
	}
	return out
}

// An alarm goes through its states, notifies its topics once of each, and keeps its history when it is deleted.
func TestAlarmsLife(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	now := start
	for i, step := range []struct {
		visible float64
		want    alarm.State
	}{{3, alarm.OK}, {11, alarm.Alarm}, {12, alarm.Alarm}, {0, alarm.OK}} {
		now = now.Add(time.Minute)
		r.visible(now, step.visible)
		if got := r.evaluate(now); got != step.want {
			t.Fatalf("step %d: %s, want %s", i, got, step.want)
		}
		if err := r.evaluator.Deliver(context.Background(), now.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
	}
	var told []string
	for _, p := range r.topics.published {
		told = append(told, p.topic[strings.LastIndex(p.topic, ":")+1:]+" "+p.subject)
	}
	if want := []string{
		`ops-ok OK: "backlog" in US East (N. Virginia)`, `ops ALARM: "backlog" in US East (N. Virginia)`,
		`ops-ok OK: "backlog" in US East (N. Virginia)`,
	}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
	r.change(func(tx *monitor.Tx) error { return tx.Delete(r.Alarm(backlog().Name), now.Add(2*time.Second)) })
	if r.Alarm(backlog().Name) != nil || r.Count() != 0 {
		t.Error("the alarm is still there")
	}
	r.restart()
	var done struct {
		ActionState, NotificationResource, PublishedMessage string
		StateUpdateTimestamp                                int64
		Error                                               *string
	}
	var message struct{ Default string }
	acted := r.items(monitor.HistoryFilter{Kind: monitor.Acted})[0]
	if err := errors.Join(json.Unmarshal([]byte(acted.Data), &done),
		json.Unmarshal([]byte(done.PublishedMessage), &message)); err != nil {
		t.Fatal(err)
	}
	if done.ActionState != "Succeeded" || done.NotificationResource != topic+"-ok" ||
		done.StateUpdateTimestamp != start.Add(time.Minute).UnixMilli() ||
		!strings.HasPrefix(message.Default, `{"AlarmName":"backlog",`) ||
		!strings.Contains(acted.Data, `"error":null`) {
		t.Errorf("an action is %s", acted.Data)
	}
	if got, want := summaries(r.items(monitor.HistoryFilter{Alarm: "backlog"})), []string{
		`Alarm "backlog" created`,
		"Alarm updated from INSUFFICIENT_DATA to OK", "Successfully executed action " + topic + "-ok",
		"Alarm updated from OK to ALARM", "Successfully executed action " + topic,
		"Alarm updated from ALARM to OK", "Successfully executed action " + topic + "-ok",
		`Alarm "backlog" deleted`,
	}; !slices.Equal(got, want) {
		t.Errorf("the history is %q", got)
	}
	if got := r.items(monitor.HistoryFilter{
		Kind: monitor.Acted, From: start.Add(2 * time.Minute), To: start.Add(3 * time.Minute),
	}); len(got) != 1 {
		t.Errorf("got %q", summaries(got))
	}
	if got := r.items(monitor.HistoryFilter{Alarm: "other"}); len(got) != 0 {
		t.Errorf("got %q", summaries(got))
	}
	for _, i := range r.items(monitor.HistoryFilter{}) {
		if !json.Valid([]byte(i.Data)) || len(i.Data) > 4095 {
			t.Errorf("%s: %s", i.Summary, i.Data)
		}
	}
}

func TestNotification(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := backlog()
	a.ShowTags, a.Tags = &monitor.ShowTags{Enabled: true, Excluded: []string{"b"}},
		map[string]string{"a": "1", "b": "2"}
	r.change(func(tx *monitor.Tx) error { return tx.Create(a, start) })
	now := start.Add(time.Minute)
	r.visible(now, 21.5)
	r.evaluate(now)
	if err := r.evaluator.Deliver(context.Background(), now); err != nil {
		t.Fatal(err)
	}
	const want = `{"AlarmName":"backlog","AlarmDescription":"too much","AWSAccountId":"000000000000",` +
		`"AlarmConfigurationUpdatedTimestamp":"2026-11-21T12:00:05.000+0000","NewStateValue":"ALARM",` +
		`"NewStateReason":"Threshold Crossed: 1 datapoint [21.5 (21/11/26 12:00:00)] was greater than the threshold (10.0).",` +
		`"StateChangeTime":"2026-11-21T12:01:05.000+0000","Region":"US East (N. Virginia)",` +
		`"AlarmArn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:backlog","OldStateValue":"INSUFFICIENT_DATA",` +
		`"OKActions":["arn:aws:sns:us-east-1:000000000000:ops-ok"],"AlarmActions":["arn:aws:sns:us-east-1:000000000000:ops"],"InsufficientDataActions":[],"ActionExecutedAfterMuteWindow":false,` +
		`"Trigger":{"MetricName":"ApproximateNumberOfMessagesVisible","Namespace":"AWS/SQS","StatisticType":"Statistic","Statistic":"AVERAGE","Unit":null,` +
		`"Dimensions":[{"value":"q","name":"QueueName"}],"Period":60,"EvaluationPeriods":1,"ComparisonOperator":"GreaterThanThreshold","Threshold":10.0,` +
		`"TreatMissingData":"missing","EvaluateLowSampleCountPercentile":""},"Tags":{"a":"1"}}`
	if len(r.topics.published) != 1 || r.topics.published[0].message != want {
		t.Errorf("published %s", r.topics.published)
	}
}

// The trigger of an alarm on queries has its period and no unit, and the queries come last.
func TestNotificationOfQueries(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := backlog()
	a.Queries = []metricdata.Query{{ID: "e1", Expression: "m1*2", Label: "twice", Return: true},
		{ID: "m1", Stat: a.Metric}}
	a.Metric, a.ToAlarm = nil, 1
	r.change(func(tx *monitor.Tx) error { return tx.Create(a, start) })
	r.change(func(tx *monitor.Tx) error {
		return tx.Transition(r.Alarm(a.Name), alarm.Decision{State: alarm.Alarm, Reason: "OK -> ALARM"}, start)
	})
	if err := r.evaluator.Deliver(context.Background(), start); err != nil {
		t.Fatal(err)
	}
	const want = `"Trigger":{"Period":60,"EvaluationPeriods":1,"DatapointsToAlarm":1,"ComparisonOperator":"GreaterThanThreshold",` +
		`"Threshold":10.0,"TreatMissingData":"missing","EvaluateLowSampleCountPercentile":"","Metrics":[` +
		`{"Expression":"m1*2","Id":"e1","Label":"twice","ReturnData":true},` +
		`{"Id":"m1","MetricStat":{"Metric":{"Dimensions":[{"value":"q","name":"QueueName"}],` +
		`"MetricName":"ApproximateNumberOfMessagesVisible","Namespace":"AWS/SQS"},"Period":60,"Stat":"Average"},"ReturnData":false}]}`
	if len(r.topics.published) != 1 || !strings.Contains(r.topics.published[0].message, want) {
		t.Errorf("published %s", r.topics.published)
	}
}

// Programs that read notifications look for the list of dimensions, even of a metric that has none; people read the
// rest.
func TestNotificationWithoutDimensions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	a := backlog()
	a.Metric.Dimensions, a.Description = nil, "a < b & c"
	r.change(func(tx *monitor.Tx) error { return tx.Create(a, start) })
	r.change(func(tx *monitor.Tx) error {
		return tx.Transition(r.Alarm(a.Name), alarm.Decision{State: alarm.Alarm, Reason: "OK -> ALARM"}, start)
	})
	if err := r.evaluator.Deliver(context.Background(), start); err != nil {
		t.Fatal(err)
	}
	if len(r.topics.published) != 1 {
		t.Fatalf("published %s", r.topics.published)
	}
	for _, want := range []string{`"Dimensions":[],"Period":60`, `"AlarmDescription":"a < b & c"`,
		`"NewStateReason":"OK -> ALARM"`} {
		if got := r.topics.published[0].message; !strings.Contains(got, want) {
			t.Errorf("published %s without %s", got, want)
		}
	}
}

// If a node dies before it publishes a notification, the next node publishes it.
func TestActionSurvives(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	now := start.Add(time.Minute)
	r.visible(now, 11)
	r.evaluate(now)
	r.restart()
	if err := r.evaluator.Deliver(context.Background(), now.Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := r.evaluator.Deliver(context.Background(), now.Add(2*time.Second)); err != nil {
		t.Fatal(err)
	}
	if len(r.topics.published) != 1 {
		t.Errorf("published %d times", len(r.topics.published))
	}
}

// Publishing to a topic that fails is retried at growing intervals for an hour; publishing to one that refuses is not.
func TestTopicFails(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fails error
		for_  time.Duration
		want  string
		tries int
	}{
		"for a while": {errDown, 10 * time.Second, "Successfully executed action " + topic, 4},
		"for good": {errDown, 2 * time.Hour,
			"Failed to execute action " + topic +
				`. Received error: "The topic could not be published to for an hour."`, 65},
		"refuses": {&monitor.Refusal{Reason: "no such topic"}, time.Hour,
			"Failed to execute action " + topic + `. Received error: "no such topic"`, 0},
	} {
		r := newRig(t)
		r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
		now := start.Add(time.Minute)
		r.visible(now, 11)
		r.evaluate(now)
		r.topics.fails = c.fails
		tries := 0
		for end := now.Add(c.for_); now.Before(end); now = now.Add(time.Second) {
			if r.evaluator.Deliver(context.Background(), now) != nil {
				tries++
			}
		}
		r.topics.fails = nil
		for range 60 {
			now = now.Add(time.Second)
			if err := r.evaluator.Deliver(context.Background(), now); err != nil {
				t.Fatal(err)
			}
		}
		items := summaries(r.items(monitor.HistoryFilter{Kind: monitor.Acted}))
		if !slices.Equal(items, []string{c.want}) || tries != c.tries {
			t.Errorf("%s: %q after %d tries", name, items, tries)
		}
	}
}

// A published notification is not published again while its record cannot be removed, however long that takes, and the
// attempts become rarer.
func TestStoreRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	now := start.Add(time.Minute)
	r.visible(now, 11)
	r.evaluate(now)
	tries := 0
	r.control.Own(func(*store.Txn) error { tries++; return control.ErrUnavailable })
	for end := now.Add(time.Hour); now.Before(end); now = now.Add(time.Second) {
		if err := r.evaluator.Deliver(context.Background(), now); err != nil &&
			!errors.Is(err, control.ErrUnavailable) {
			t.Fatal(err)
		}
	}
	if len(r.topics.published) != 1 || tries < 60 || tries > 70 {
		t.Errorf("published %d times, tried to note it %d times", len(r.topics.published), tries)
	}
	r.control.Own(func(tx *store.Txn) error {
		batch := tx.Bytes()
		return errors.Join(r.store.Commit(tx), r.control.Apply(batch))
	})
	for range 120 {
		now = now.Add(time.Second)
		if err := r.evaluator.Deliver(context.Background(), now); err != nil {
			t.Fatal(err)
		}
	}
	items := summaries(r.items(monitor.HistoryFilter{Kind: monitor.Acted}))
	if want := []string{"Successfully executed action " + topic}; !slices.Equal(items, want) ||
		len(r.topics.published) != 1 {
		t.Errorf("published %d times, noted are %q", len(r.topics.published), items)
	}
}

// A state that was decided for an alarm that has changed meanwhile is dropped, and an alarm without actions notifies
// nothing.
func TestDisabledActions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	r.change(func(tx *monitor.Tx) error { return tx.EnableActions(r.Alarm(backlog().Name), false, start) })
	now := start.Add(time.Minute)
	r.visible(now, 11)
	if got := r.evaluate(now); got != alarm.Alarm {
		t.Errorf("got %s", got)
	}
	if err := r.evaluator.Deliver(context.Background(), now); err != nil || len(r.topics.published) != 0 {
		t.Errorf("published %v, error %v", r.topics.published, err)
	}
	if got, want := summaries(r.items(monitor.HistoryFilter{})), []string{
		`Alarm "backlog" created`, `Alarm "backlog" updated`, "Alarm updated from INSUFFICIENT_DATA to ALARM",
	}; !slices.Equal(got, want) {
		t.Errorf("the history is %q", got)
	}
}

// An update keeps the state; SetAlarmState sets it until the next evaluation.
func TestUpdateKeepsState(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	r.change(func(tx *monitor.Tx) error {
		return tx.Transition(r.Alarm(backlog().Name), alarm.Decision{State: alarm.Alarm, Reason: "a test"}, start)
	})
	changed := backlog()
	changed.Threshold = 5
	r.change(func(tx *monitor.Tx) error { return tx.Update(r.Alarm(changed.Name), changed, start.Add(time.Second)) })
	if a := r.Alarm(changed.Name); a.State != alarm.Alarm || a.Threshold != 5 || a.Reason != "a test" ||
		!a.Created.Equal(start) {
		t.Errorf("it is %+v", a)
	}
	now := start.Add(time.Minute)
	r.visible(now, 1)
	if got := r.evaluate(now); got != alarm.OK {
		t.Errorf("got %s", got)
	}
}

// An alarm on days by the clock of a time zone sees each hour in its day, also in the days of 23 and 25 hours.
func TestDaylightSaving(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("there is no time zone database")
	}
	for _, changes := range []time.Time{time.Date(2026, 3, 29, 0, 0, 0, 0, berlin),
		time.Date(2026, 10, 25, 0, 0, 0, 0, berlin)} {
		for before := range 3 {
			r := newRig(t)
			a := backlog()
			a.Metric.Period, a.Metric.Statistic, a.Periods, a.Threshold = 24*time.Hour, "Sum", 4, 0
			a.Window, a.Comparison = monitor.Window{Kind: monitor.WallClock, Timezone: "Europe/Berlin"},
				alarm.GreaterOrEqual
			r.change(func(tx *monitor.Tx) error { return tx.Create(a, changes.AddDate(0, 0, -9)) })
			now := changes.AddDate(0, 0, 1+before)
			want := make(map[string]float64)
			for day := range 4 {
				began := now.AddDate(0, 0, day-4)
				for at := began; at.Before(began.AddDate(0, 0, 1)); at = at.Add(30 * time.Minute) {
					r.visible(at.Add(time.Minute), 1)
					want[began.UTC().Format(alarm.TimeFormat)]++
				}
			}
			if got := r.evaluate(now.Add(5 * time.Second)); got != alarm.Alarm {
				t.Fatalf("the state is %s", got)
			}
			var data struct {
				Evaluated []struct {
					Timestamp string
					Value     float64
				} `json:"evaluatedDatapoints"`
			}
			if err := json.Unmarshal([]byte(r.Alarm(a.Name).ReasonData), &data); err != nil {
				t.Fatal(err)
			}
			got := make(map[string]float64)
			for _, e := range data.Evaluated {
				got[e.Timestamp] = e.Value
			}
			if !maps.Equal(got, want) {
				t.Errorf("%d days after %s there are %v, want %v", before, changes, got, want)
			}
		}
	}
}

// A metric that cannot be read leaves its alarm unchanged, and the others are evaluated.
func TestUnreadableMetric(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	bad := backlog()
	bad.Name.Name = "bad"
	bad.Metric.Statistic = "p101" // of another program
	r.change(func(tx *monitor.Tx) error { return errors.Join(tx.Create(backlog(), start), tx.Create(bad, start)) })
	now := start.Add(time.Minute)
	r.visible(now, 11)
	err := r.evaluator.Evaluate(context.Background(), now)
	if err == nil || !strings.Contains(err.Error(), "1 of 2 alarms keep their state") {
		t.Errorf("got %v", err)
	}
	if got := r.Alarm(backlog().Name).State; got != alarm.Alarm {
		t.Errorf("the other is %s", got)
	}
}

// A node that does not own the control store neither evaluates nor publishes; its knowledge comes from the owner.
func TestFollower(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	r.control = control.New(control.Options{Store: r.store, Follow: true})
	m, err := monitor.Open(monitor.Options{Control: r.control})
	if err != nil {
		t.Fatal(err)
	}
	e := monitor.NewEvaluator(monitor.EvaluatorOptions{
		Monitor: m, Reader: r.metrics, Levels: series.Default, Topics: r.topics,
	})
	now := start.Add(time.Minute)
	r.visible(now, 11)
	if err := errors.Join(e.Evaluate(context.Background(), now), e.Deliver(context.Background(), now)); err != nil {
		t.Error(err)
	}
	if got := m.Alarm(backlog().Name); got == nil || got.State != alarm.Insufficient {
		t.Errorf("got %+v", got)
	}
	if err := m.Change(context.Background(), func(*monitor.Tx) error { return nil }); !errors.Is(err,
		control.ErrElsewhere) {
		t.Errorf("got %v", err)
	}
}

// Older programs are locked out before the first record is written.
func TestRequire(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	refused := errors.New("an older node is there")
	m, err := monitor.Open(monitor.Options{
		Control: r.control, Formats: control.Formats{Require: func(int) error { return refused }},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Change(context.Background(),
		func(tx *monitor.Tx) error { return tx.Create(backlog(), start) }); !errors.Is(err, refused) || m.Count() != 0 {
		t.Errorf("got %v", err)
	}
}

func TestDashboards(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"b/1", "a"} {
		r.change(func(tx *monitor.Tx) error {
			d := &monitor.Dashboard{Account: scope.Account, Name: name, Modified: start}
			return tx.PutDashboard(d, `{"widgets":[]}`)
		})
	}
	r.restart()
	all := r.Dashboards(scope.Account, "")
	if len(all) != 2 || all[0].Name != "a" || all[1].Name != "b/1" || all[1].Size != 14 ||
		len(r.Dashboards(scope.Account, "b")) != 1 || len(r.Dashboards("111111111111", "")) != 0 {
		t.Errorf("got %v", all)
	}
	if body, err := r.Body(all[1]); body != `{"widgets":[]}` || err != nil {
		t.Errorf("%q, %v", body, err)
	}
	r.change(func(tx *monitor.Tx) error { tx.DeleteDashboard(all[0]); return nil })
	if r.Dashboard(scope.Account, "a") != nil {
		t.Error("it is still there")
	}
}

// History and points are removed when they are too old, and not before.
func TestSweep(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error { return tx.Create(backlog(), start) })
	id := series.ID{Scope: scope, Namespace: "Mine", Metric: "m"}
	if err := r.Put(context.Background(), []monitor.Sample{{ID: id, Point: series.Sample(start, 1)}}); err != nil {
		t.Fatal(err)
	}
	count := func() string {
		r.Helper()
		n := 0
		if err := control.Records(r.store, monitor.Prefix+"points/",
			func(string, []byte) bool { n++; return true }); err != nil {
			t.Fatal(err)
		}
		ids, err := r.Reader(r.metrics).List(context.Background(), series.Filter{Scope: scope})
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(len(r.items(monitor.HistoryFilter{})), n, len(ids))
	}
	for _, step := range []struct {
		age  time.Duration
		want string
	}{{13 * 24 * time.Hour, "1 1 1"}, {14*24*time.Hour + time.Minute, "0 1 1"},
		{15*24*time.Hour + 2*time.Hour, "0 0 0"}} {
		if err := r.Sweep(context.Background(), start.Add(step.age)); err != nil {
			t.Fatal(err)
		}
		if got := count(); got != step.want {
			t.Errorf("after %s there are %s, want %s", step.age, got, step.want)
		}
	}
	if r.Alarm(backlog().Name) == nil {
		t.Error("the alarm has gone")
	}
}

// A record that this program does not know is an error, not a guess.
func TestUnknownRecord(t *testing.T) {
	t.Parallel()
	s, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := control.New(control.Options{Store: s})
	if err := c.Change(context.Background(),
		func(tx *control.Tx) error { tx.Put(monitor.Prefix+"else/1", []byte("{}")); return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := monitor.Open(monitor.Options{
		Control: c,
	}); err == nil || !strings.Contains(err.Error(), "newer program") {
		t.Errorf("got %v", err)
	}
}

// The check accepts all valid records, and finds an invalid one.
func TestCheck(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.change(func(tx *monitor.Tx) error {
		d := &monitor.Dashboard{Account: scope.Account, Name: "d", Modified: start}
		return errors.Join(tx.PutDashboard(d, "{}"), tx.Create(backlog(), start))
	})
	if err := r.Put(context.Background(),
		[]monitor.Sample{{ID: series.ID{Scope: scope, Namespace: "Mine", Metric: "m"},
			Point: series.Sample(start, 1)}}); err != nil {
		t.Fatal(err)
	}
	n, problems, err := monitor.Check(r.store)
	if n != (monitor.Counts{Alarms: 1, Dashboards: 1, Metrics: 1, Items: 1}) || len(problems) != 0 || err != nil {
		t.Errorf("%+v, %q, %v", n, problems, err)
	}
	if err := r.control.Change(context.Background(), func(tx *control.Tx) error {
		tx.Put(monitor.Prefix+"points/0/00000000", []byte{9})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, problems, err = monitor.Check(r.store); len(problems) != 1 || err != nil {
		t.Errorf("%q, %v", problems, err)
	}
}

// When the node that evaluates dies, another continues: it sends the notifications of the dead node's decisions, and
// makes the next decisions.
func TestTakeover(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var nodes [2]struct {
		control   *control.Control
		monitor   *monitor.Monitor
		evaluator *monitor.Evaluator
	}
	commit := func(tx *store.Txn) error {
		batch := append([]byte(nil), tx.Bytes()...)
		err := r.store.Commit(tx)
		for i := range nodes {
			err = errors.Join(err, nodes[i].control.Apply(batch))
		}
		return err
	}
	for i := range nodes {
		n := &nodes[i]
		n.control = control.New(control.Options{Store: r.store, Follow: true})
		var err error
		if n.monitor, err = monitor.Open(monitor.Options{Control: n.control}); err != nil {
			t.Fatal(err)
		}
		n.evaluator = monitor.NewEvaluator(monitor.EvaluatorOptions{
			Monitor: n.monitor, Reader: r.metrics, Levels: series.Default, Topics: r.topics,
		})
	}
	end := nodes[0].control.Own(commit)
	if err := nodes[0].monitor.Change(t.Context(),
		func(tx *monitor.Tx) error { return tx.Create(backlog(), start) }); err != nil {
		t.Fatal(err)
	}
	now := start.Add(time.Minute)
	r.visible(now, 11)
	both := func(at time.Time) {
		t.Helper()
		for i := range nodes {
			if err := errors.Join(nodes[i].evaluator.Evaluate(t.Context(), at),
				nodes[i].evaluator.Deliver(t.Context(), at)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := nodes[0].evaluator.Evaluate(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	end() // before it has published
	nodes[1].control.Own(commit)
	both(now.Add(time.Second))
	r.visible(now.Add(time.Minute), 0)
	both(now.Add(time.Minute))
	var told []string
	for _, p := range r.topics.published {
		told = append(told, p.subject)
	}
	if want := []string{`ALARM: "backlog" in US East (N. Virginia)`,
		`OK: "backlog" in US East (N. Virginia)`}; !slices.Equal(told, want) {
		t.Errorf("told %q", told)
	}
}
