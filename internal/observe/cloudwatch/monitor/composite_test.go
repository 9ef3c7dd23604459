package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/store"
)

// named returns the name of an alarm in the tests' scope.
func named(name string) monitor.Name { return monitor.Name{Scope: scope, Name: name} }

// composite returns an alarm on others, which notifies in each state.
func composite(t *testing.T, name, rule string) *monitor.Alarm {
	t.Helper()
	c, err := monitor.NewComposite(scope, rule)
	if err != nil {
		t.Fatal(err)
	}
	return &monitor.Alarm{
		Name: named(name), ActionsEnabled: true, AlarmActions: []string{topic}, OKActions: []string{topic + "-ok"},
		Composite: c,
	}
}

// metric creates metric alarms.
func (r *rig) metric(names ...string) {
	r.Helper()
	r.change(func(tx *monitor.Tx) error {
		for _, name := range names {
			a := backlog()
			a.Name, a.ActionsEnabled = named(name), false
			if err := tx.Create(a, start); err != nil {
				return err
			}
		}
		return nil
	})
}

// create creates an alarm.
func (r *rig) create(a *monitor.Alarm, now time.Time) {
	r.Helper()
	r.change(func(tx *monitor.Tx) error { return tx.Create(a, now) })
}

// set sets states of alarms, "a=ALARM b=OK", as SetAlarmState does.
func (r *rig) set(now time.Time, states string) {
	r.Helper()
	for _, s := range strings.Fields(states) {
		name, state, _ := strings.Cut(s, "=")
		r.change(func(tx *monitor.Tx) error {
			return tx.Transition(r.Alarm(named(name)), alarm.Decision{State: alarm.State(state), Reason: "a test"}, now)
		})
	}
}

// combine updates composite alarms, delivers, and returns the notifications since the previous call.
func (r *rig) combine(now time.Time) (out []string) {
	r.Helper()
	if err := r.evaluator.Combine(context.Background(), now); err != nil {
		r.Fatal(err)
	}
	if err := r.evaluator.Deliver(context.Background(), now.Add(time.Millisecond)); err != nil {
		r.Fatal(err)
	}
	for _, p := range r.topics.published {
		out = append(out, strings.TrimSuffix(p.subject, " in US East (N. Virginia)"))
	}
	r.topics.published = nil
	slices.Sort(out) // notifications of one instant have no order
	return out
}

// told fails unless these are the subjects of notifications.
func (r *rig) told(got []string, want ...string) {
	r.Helper()
	if !slices.Equal(got, want) {
		r.Errorf("told %q, want %q", got, want)
	}
}

// A composite alarm is created without a state, gets one at once, follows its children, and notifies.
func TestCompositeFollows(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a", "b")
	r.set(start, "a=OK b=OK")
	r.create(composite(t, "c", `ALARM(a) AND ALARM("`+named("b").ARN()+`")`), start.Add(time.Second))
	c := r.Alarm(named("c"))
	if c.State != alarm.Insufficient || c.Reason != "Unchecked: Initial alarm creation" {
		t.Errorf("it begins as %+v", c)
	}
	r.told(r.combine(start.Add(2*time.Second)), `OK: "c"`)
	c = r.Alarm(named("c"))
	if want := named("c").ARN() + " was created and its alarm rule evaluates to OK"; c.State != alarm.OK ||
		c.Reason != want {
		t.Errorf("%s because %s", c.State, c.Reason)
	}
	if want := `{"triggeringAlarms":[{"arn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:a","state":{"value":"OK","timestamp":"2026-11-21T12:00:05.000+0000"}},` +
		`{"arn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:b","state":{"value":"OK","timestamp":"2026-11-21T12:00:05.000+0000"}}]}`; c.ReasonData != want {
		t.Errorf("the data is %s", c.ReasonData)
	}
	now := start.Add(time.Minute)
	r.set(now, "a=ALARM")
	r.told(r.combine(now.Add(time.Second)))
	r.set(now.Add(5*time.Second), "b=ALARM")
	if err := r.evaluator.Combine(context.Background(), now.Add(6*time.Second)); err != nil {
		t.Fatal(err)
	}
	if err := r.evaluator.Deliver(context.Background(), now.Add(7*time.Second)); err != nil {
		t.Fatal(err)
	}
	const want = `{"AlarmName":"c","AlarmDescription":null,"AWSAccountId":"000000000000",` +
		`"AlarmConfigurationUpdatedTimestamp":"2026-11-21T12:00:06.000+0000","NewStateValue":"ALARM",` +
		`"NewStateReason":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:b transitioned to ALARM at Saturday 21 November, 2026 12:01:10 UTC",` +
		`"StateChangeTime":"2026-11-21T12:01:11.000+0000","Region":"US East (N. Virginia)",` +
		`"AlarmArn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:c","OldStateValue":"OK",` +
		`"OKActions":["arn:aws:sns:us-east-1:000000000000:ops-ok"],"AlarmActions":["arn:aws:sns:us-east-1:000000000000:ops"],` +
		`"InsufficientDataActions":[],"ActionExecutedAfterMuteWindow":false,` +
		`"AlarmRule":"ALARM(a) AND ALARM(\"arn:aws:cloudwatch:us-east-1:000000000000:alarm:b\")",` +
		`"TriggeringChildren":[{"Arn":"arn:aws:cloudwatch:us-east-1:000000000000:alarm:b","State":{"Value":"ALARM","Timestamp":"2026-11-21T12:01:10.000+0000"}}]}`
	if len(r.topics.published) != 1 || r.topics.published[0].message != want {
		t.Errorf("published %s", r.topics.published)
	}
	if got, want := summaries(r.items(monitor.HistoryFilter{Alarm: "c", Types: monitor.AlarmTypes{Composite: true}})),
		[]string{
			`Alarm "c" created`, "Alarm updated from INSUFFICIENT_DATA to OK",
			"Successfully executed action " + topic + "-ok",
			"Alarm updated from OK to ALARM", "Successfully executed action " + topic,
		}; !slices.Equal(got, want) {
		t.Errorf("the history is %q", got)
	}
	if got := r.items(monitor.HistoryFilter{Alarm: "c", Types: monitor.AlarmTypes{Metric: true}}); len(got) > 0 {
		t.Errorf("of a metric alarm: %q", summaries(got))
	}
}

// A changed rule is evaluated, and the reason says so.
func TestCompositeUpdated(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.create(composite(t, "c", "FALSE"), start)
	r.combine(start)
	r.change(func(tx *monitor.Tx) error {
		return tx.Update(r.Alarm(named("c")), composite(t, "c", "NOT ALARM(a)"), start.Add(time.Second))
	})
	r.told(r.combine(start.Add(2*time.Second)), `ALARM: "c"`)
	if got, want := r.Alarm(named("c")).Reason,
		named("c").ARN()+" was updated and its alarm rule evaluates to ALARM"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A change that passes through several composite alarms causes one notification of each alarm whose state finally
// changes.
func TestNestedComposites(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.set(start, "a=OK")
	// In order of names, top comes before the alarms on which it depends.
	r.create(composite(t, "a-top", "ALARM(a) AND NOT ALARM(z-low)"), start)
	r.create(composite(t, "z-low", "ALARM(z-lower)"), start)
	r.create(composite(t, "z-lower", "ALARM(a)"), start)
	r.told(r.combine(start), `OK: "a-top"`, `OK: "z-low"`, `OK: "z-lower"`)
	r.set(start.Add(time.Second), "a=ALARM")
	r.told(r.combine(start.Add(time.Second)), `ALARM: "z-low"`, `ALARM: "z-lower"`)
	if got := r.Alarm(named("a-top")).State; got != alarm.OK {
		t.Errorf("the top is %s", got)
	}
}

// Composite alarms in a cycle keep their states; those that depend on them do not.
func TestCycles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	for _, name := range []string{"c", "d", "self", "above"} {
		r.create(composite(t, name, "FALSE"), start)
	}
	r.combine(start)
	update := func(name, rule string) {
		t.Helper()
		r.change(func(tx *monitor.Tx) error {
			return tx.Update(r.Alarm(named(name)), composite(t, name, rule), start.Add(time.Second))
		})
	}
	update("c", "ALARM(a) OR ALARM(d)")
	update("d", "OK(c)")
	update("self", "OK(self)")
	update("above", "OK(d)")
	r.told(r.combine(start.Add(time.Second)), `ALARM: "above"`)
	r.set(start.Add(2*time.Second), "a=ALARM")
	r.told(r.combine(start.Add(2 * time.Second)))
	if got := r.Alarm(named("c")).State; got != alarm.OK {
		t.Errorf("in a cycle it becomes %s", got)
	}
	update("d", "FALSE") // which breaks the cycle
	r.told(r.combine(start.Add(3*time.Second)), `ALARM: "c"`)
}

// A state that is set by hand stays until a child changes, even across a restart.
func TestCompositeSetByHand(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.set(start, "a=OK")
	r.create(composite(t, "c", "ALARM(a)"), start)
	r.combine(start)
	r.set(start.Add(time.Second), "c=ALARM")
	r.told(r.combine(start.Add(time.Second)), `ALARM: "c"`)
	r.restart()
	r.told(r.combine(start.Add(time.Minute)))
	if got := r.Alarm(named("c")); got.State != alarm.Alarm || got.Reason != "a test" {
		t.Errorf("it is %+v", got)
	}
	r.set(start.Add(2*time.Minute), "a=INSUFFICIENT_DATA")
	r.told(r.combine(start.Add(2*time.Minute)), `OK: "c"`)
}

// The next node sees changes from before the death of a node.
func TestCompositeSurvives(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.create(composite(t, "c", "ALARM(a)"), start)
	r.combine(start)
	r.set(start.Add(time.Second), "a=ALARM")
	r.restart()
	r.told(r.combine(start.Add(2*time.Second)), `ALARM: "c"`)
	r.restart()
	r.told(r.combine(start.Add(3 * time.Second)))
}

// A composite alarm whose change could not be stored is evaluated again.
func TestCombineAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.create(composite(t, "c", "ALARM(a)"), start)
	r.combine(start)
	r.set(start.Add(time.Second), "a=ALARM")
	commit := func(tx *store.Txn) error { return control.ErrUnavailable }
	r.control.Own(func(tx *store.Txn) error { return commit(tx) })
	if err := r.evaluator.Combine(context.Background(), start.Add(2*time.Second)); err == nil {
		t.Error("want an error")
	}
	commit = func(tx *store.Txn) error {
		batch := tx.Bytes()
		if err := r.store.Commit(tx); err != nil {
			return err
		}
		return r.control.Apply(batch)
	}
	r.told(r.combine(start.Add(3*time.Second)), `ALARM: "c"`)
}

// The examples of AWS's documentation: a unit of time is ten seconds, WaitPeriod is two units, ExtensionPeriod three.
func TestSuppression(t *testing.T) {
	t.Parallel()
	const wait, extension, none = monitor.ByWaitPeriod, monitor.ByExtensionPeriod, monitor.Suppressor("")
	type step struct {
		at      int    // in units
		set     string // "a" is the child, "s" the suppressor
		by      monitor.Suppressor
		notices string
	}
	for name, steps := range map[string][]step{
		"not suppressed after WaitPeriod": {{2, "a=ALARM", wait, ""}, {3, "", wait, ""}, {4, "", none, "ALARM"},
			{9, "", none, ""}},
		"suppressed before WaitPeriod ends": {{2, "a=ALARM", wait, ""}, {3, "s=ALARM", monitor.ByAlarm, ""},
			{4, "", monitor.ByAlarm, ""}},
		"another state in WaitPeriod": {{2, "a=ALARM", wait, ""}, {3, "a=OK", wait, ""}, {4, "", wait, ""},
			{5, "", none, "OK"}},
		"already suppressed": {{1, "s=ALARM", monitor.ByAlarm, ""},
			{2, "a=ALARM", monitor.ByAlarm, ""}, {9, "", monitor.ByAlarm, ""}},
		"after ExtensionPeriod": {{2, "a=ALARM", wait, ""}, {3, "s=ALARM", monitor.ByAlarm, ""},
			{6, "s=OK", extension, ""}, {8, "", extension, ""}, {9, "", none, "ALARM"}},
		"another state in ExtensionPeriod": {{2, "a=ALARM", wait, ""}, {3, "s=ALARM", monitor.ByAlarm, ""},
			{6, "s=OK", extension, ""}, {7, "a=OK", wait, ""}, {9, "", none, "OK"}},
		"suppressor without anything to suppress": {{2, "s=ALARM", monitor.ByAlarm, ""}, {3, "s=OK", extension, ""},
			{6, "", none, ""}},
		"suppressor alarms in ExtensionPeriod": {{2, "s=ALARM a=ALARM", monitor.ByAlarm, ""},
			{3, "s=OK", extension, ""}, {4, "s=ALARM", monitor.ByAlarm, ""}, {5, "s=OK", extension, ""},
			{8, "", none, "ALARM"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.metric("a", "s")
			r.set(start, "a=OK s=OK")
			c := composite(t, "c", "ALARM(a)")
			r.create(c, start)
			r.combine(start)
			with := composite(t, "c", "ALARM(a)")
			with.Composite.Suppressor, with.Composite.Wait, with.Composite.Extension = named("s").ARN(), 20, 30
			r.change(func(tx *monitor.Tx) error { return tx.Update(r.Alarm(c.Name), with, start) })
			r.combine(start)
			for _, s := range steps {
				now := start.Add(time.Duration(s.at) * 10 * time.Second)
				r.set(now, s.set)
				var want []string
				if s.notices != "" {
					want = []string{s.notices + `: "c"`}
				}
				if got := r.combine(now); !slices.Equal(got, want) {
					t.Errorf("at t%d: notified %q", s.at, got)
				}
				if got := r.Alarm(c.Name).Composite.Suppression.By; got != s.by {
					t.Errorf("at t%d: suppressed by %q, want %q", s.at, got, s.by)
				}
				r.restart() // the next node continues where this one was
			}
		})
	}
}

// With periods of length zero, and without the suppressor, actions are carried out at once.
func TestSuppressionEnds(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		wait   int
		update func(c *monitor.Composite)
		want   []string
	}{
		"no WaitPeriod":            {0, nil, nil},
		"suppressor removed":       {60, func(c *monitor.Composite) { c.Suppressor = "" }, []string{`ALARM: "c"`}},
		"suppressor replaced":      {60, func(c *monitor.Composite) { c.Suppressor = "other" }, []string{`ALARM: "c"`}},
		"suppressor stays":         {60, func(c *monitor.Composite) { c.Wait = 1 }, nil},
		"another that is in ALARM": {60, func(c *monitor.Composite) { c.Suppressor = "loud" }, nil},
	} {
		r := newRig(t)
		r.metric("a", "s", "other", "loud")
		r.set(start, "a=OK s=OK loud=ALARM")
		with := func(change func(*monitor.Composite)) *monitor.Alarm {
			a := composite(t, "c", "ALARM(a)")
			a.Composite.Suppressor, a.Composite.Wait = "s", c.wait
			if change != nil {
				change(a.Composite)
			}
			return a
		}
		r.create(with(nil), start)
		r.combine(start)
		r.combine(start.Add(time.Minute))
		now := start.Add(2 * time.Minute)
		r.set(now, "a=ALARM")
		if got := r.combine(now); (len(got) == 1) != (c.wait == 0) {
			t.Errorf("%s: notified %q", name, got)
		}
		if c.update != nil {
			r.change(func(tx *monitor.Tx) error { return tx.Update(r.Alarm(named("c")), with(c.update), now) })
		}
		if got := r.combine(now.Add(time.Second)); !slices.Equal(got, c.want) {
			t.Errorf("%s: notified %q afterwards", name, got)
		}
	}
}

// Actions that are disabled when a period ends are not carried out.
func TestSuppressedAndDisabled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a", "s")
	a := composite(t, "c", "ALARM(a)")
	a.Composite.Suppressor, a.Composite.Wait = "s", 10
	r.create(a, start)
	r.combine(start.Add(time.Second))
	r.change(func(tx *monitor.Tx) error { return tx.EnableActions(r.Alarm(named("c")), false, start) })
	r.told(r.combine(start.Add(time.Minute)))
	r.change(func(tx *monitor.Tx) error { return tx.EnableActions(r.Alarm(named("c")), true, start) })
	r.told(r.combine(start.Add(2 * time.Minute)))
}

// The history of suppression names the suppressor, and fits the maximum length.
func TestSuppressionHistory(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a", "s")
	a := composite(t, "c", "ALARM(a)"+strings.Repeat(" OR FALSE", 400))
	a.Composite.Suppressor, a.Composite.Wait, a.Composite.Extension = "s", 10, 10
	r.create(a, start)
	now := start.Add(time.Second)
	for _, states := range []string{"", "s=ALARM", "s=OK", ""} {
		r.set(now, states)
		r.combine(now)
		now = now.Add(11 * time.Second)
	}
	items := r.items(monitor.HistoryFilter{Alarm: "c", Kind: monitor.StateSet})
	if got, want := summaries(items), []string{
		"Alarm updated from INSUFFICIENT_DATA to OK", "Actions suppressed by Alarm",
		"Actions suppressed by ExtensionPeriod",
		"Actions no longer suppressed by ExtensionPeriod",
	}; !slices.Equal(got, want) {
		t.Errorf("the history is %q", got)
	}
	for _, i := range r.items(monitor.HistoryFilter{Alarm: "c"}) {
		if !json.Valid([]byte(i.Data)) || len(i.Data) > 4095 {
			t.Errorf("%s: %s", i.Summary, i.Data)
		}
	}
	if !strings.Contains(items[0].Data,
		`"actionsSuppressedBy":"WaitPeriod","actionsSuppressedReason":"Actions suppressed by WaitPeriod"`) {
		t.Errorf("the transition is %s", items[0].Data)
	}
}

// The alarms that depend on one are known, even after changes and deletions.
func TestDependents(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a", "b")
	r.create(composite(t, "c", "ALARM(a) OR OK(a)"), start)
	d := composite(t, "d", "ALARM(c)")
	d.Composite.Suppressor = "a"
	r.create(d, start)
	check := func(want string) {
		t.Helper()
		names := func(all []*monitor.Alarm) (out []string) {
			for _, a := range all {
				out = append(out, a.Name.Name)
			}
			return out
		}
		if got := fmt.Sprint(names(r.Parents(named("a"))), names(r.Dependents(named("a"))),
			names(r.Parents(named("c")))); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	check("[c] [c d] [d]")
	r.restart()
	check("[c] [c d] [d]")
	if got := r.Children(r.Alarm(named("c"))); len(got) != 1 || got[0].Name != named("a") {
		t.Errorf("the children are %v", got)
	}
	r.change(func(tx *monitor.Tx) error { return tx.Update(r.Alarm(named("c")), composite(t, "c", "OK(b)"), start) })
	check("[] [d] [d]")
	r.change(func(tx *monitor.Tx) error { return tx.Delete(r.Alarm(named("d")), start) })
	check("[] [] []")
}

// Composite alarms wait until all programs know them; metric alarms do not.
func TestCompositesGate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	required, ready := 0, errDown
	open := func() {
		r.control = control.New(control.Options{Store: r.store})
		m, err := monitor.Open(monitor.Options{
			Control: r.control, Formats: control.Formats{
				Ready: func(format int) error {
					if format != formats.Composites {
						return nil
					}
					return ready
				},
				Require: func(format int) error {
					if format == formats.Composites {
						required++
					}
					return nil
				},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		r.Monitor = m
	}
	open()
	r.metric("a")
	create := func() error {
		return r.Change(context.Background(),
			func(tx *monitor.Tx) error { return tx.Create(composite(t, "c", "ALARM(a)"), start) })
	}
	if err := create(); err == nil || required != 0 || r.Alarm(named("c")) != nil {
		t.Errorf("%v, required %d times", err, required)
	}
	ready = nil
	if err := create(); err != nil || required != 1 {
		t.Errorf("%v, required %d times", err, required)
	}
	open() // another node that reads it
	if required != 2 {
		t.Errorf("required %d times", required)
	}
}

// The check of a data directory reads composite alarms.
func TestCheckComposites(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.create(composite(t, "c", "ALARM(a)"), start)
	if n, problems, err := monitor.Check(r.store); n.Alarms != 2 || len(problems) > 0 || err != nil {
		t.Errorf("%+v %q %v", n, problems, err)
	}
}

// An account with many composite alarms does not delay another's: when a change fails at the first of many, the other
// account's has already arrived.
func TestCompositesTakeTurns(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.metric("a")
	r.change(func(tx *monitor.Tx) error {
		for i := range 200 {
			if err := tx.Create(composite(t, fmt.Sprint("c", i), "ALARM(a)"), start); err != nil {
				return err
			}
		}
		return nil
	})
	other := scope
	other.Account = "999999999999"
	c, err := monitor.NewComposite(other, "TRUE")
	if err != nil {
		t.Fatal(err)
	}
	r.create(&monitor.Alarm{Name: monitor.Name{Scope: other, Name: "z"}, Composite: c}, start)
	changes := 0
	r.control.Own(func(tx *store.Txn) error {
		if changes++; changes > 10 {
			return control.ErrUnavailable
		}
		batch := tx.Bytes()
		return errors.Join(r.store.Commit(tx), r.control.Apply(batch))
	})
	if err := r.evaluator.Combine(context.Background(), start); !errors.Is(err, control.ErrUnavailable) {
		t.Fatal(err)
	}
	if got := r.Alarm(monitor.Name{Scope: other, Name: "z"}).State; got != alarm.Alarm {
		t.Errorf("the alarm of the other account is %s after ten changes", got)
	}
}
