package monitor_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/monitor"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// mutes mutes alarms until a time.
type mutes struct {
	until   map[string]time.Time
	version uint64
	asked   int
}

func (m *mutes) Mutes(_ series.Scope, alarm string, now time.Time) bool {
	m.asked++
	return now.Before(m.until[alarm])
}

func (m *mutes) Version() uint64 { return m.version }

// mute mutes alarms until a time, as a change of a rule does.
func (r *rig) mute(until time.Time, names ...string) {
	r.mutes.version++
	r.mutes.until = make(map[string]time.Time)
	for _, name := range names {
		r.mutes.until[name] = until
	}
}

// pass does a node's work of a second, and returns the subjects of the notifications.
func (r *rig) pass(now time.Time) []string {
	r.Helper()
	if err := r.evaluator.Unmute(context.Background(), now); err != nil {
		r.Fatal(err)
	}
	return r.combine(now)
}

// A muted alarm changes its state, and its actions wait. They are carried out after the window, if the alarm is still
// in that state.
func TestMutedAlarm(t *testing.T) {
	t.Parallel()
	r, end := newRig(t), start.Truncate(time.Minute).Add(10*time.Minute)
	r.create(backlog(), start)
	r.set(start, "backlog=OK")
	r.told(r.pass(start), `OK: "backlog"`)
	r.mute(end, "backlog")
	r.set(start.Add(time.Minute), "backlog=ALARM")
	r.told(r.pass(start.Add(2 * time.Minute)))
	r.restart() // another node continues
	r.told(r.pass(end.Add(-time.Second)))
	if err := r.evaluator.Unmute(context.Background(), end); err != nil {
		t.Fatal(err)
	}
	if err := r.evaluator.Deliver(context.Background(), end); err != nil {
		t.Fatal(err)
	}
	if len(r.topics.published) != 1 {
		t.Fatalf("published %v", r.topics.published)
	}
	var m struct {
		OldStateValue, NewStateValue, StateChangeTime string
		ActionExecutedAfterMuteWindow                 bool
	}
	if err := json.Unmarshal([]byte(r.topics.published[0].message), &m); err != nil {
		t.Fatal(err)
	}
	if m.OldStateValue != "OK" || m.NewStateValue != "ALARM" || m.StateChangeTime != "2026-11-21T12:01:05.000+0000" ||
		!m.ActionExecutedAfterMuteWindow {
		t.Errorf("%+v", m)
	}
	r.told(r.pass(end.Add(time.Minute)), `ALARM: "backlog"`) // the previous one
	r.told(r.pass(end.Add(2 * time.Minute)))
	items := r.items(monitor.HistoryFilter{})
	if got := items[len(items)-1]; got.Summary != "Successfully executed action "+topic || !got.Time.Equal(end) {
		t.Errorf("%+v", got)
	}
}

// The actions of a state that an alarm has left are not carried out.
func TestMutedAlarmRecovers(t *testing.T) {
	t.Parallel()
	r, end := newRig(t), start.Truncate(time.Minute).Add(10*time.Minute)
	quiet := backlog()
	quiet.OKActions = nil
	r.create(quiet, start)
	r.mute(end, "backlog")
	r.set(start.Add(time.Minute), "backlog=ALARM")
	r.set(start.Add(2*time.Minute), "backlog=OK")
	r.told(r.pass(end))
	r.mute(end.Add(time.Hour), "backlog")
	r.set(end, "backlog=ALARM")
	r.mute(end.Add(-time.Hour), "backlog")
	r.set(end.Add(time.Second), "backlog=OK") // no longer muted
	r.told(r.pass(end.Add(2 * time.Second)))
}

// A change of a rule takes effect at once, even within a minute. Otherwise rules are evaluated once a minute, and not
// at all without waiting alarms.
func TestUnmute(t *testing.T) {
	t.Parallel()
	r, end := newRig(t), start.Add(time.Hour)
	r.create(backlog(), start)
	r.told(r.pass(start))
	if r.mutes.asked > 0 {
		t.Errorf("evaluated %d times without a waiting alarm", r.mutes.asked)
	}
	r.mute(end, "backlog")
	r.set(start, "backlog=ALARM")
	r.told(r.pass(start))
	asked := r.mutes.asked
	for i := range 50 {
		r.told(r.pass(start.Add(time.Duration(i) * time.Second)))
	}
	if r.mutes.asked != asked {
		t.Errorf("evaluated %d times in a minute", r.mutes.asked-asked)
	}
	r.mute(end)
	r.told(r.pass(start.Add(51*time.Second)), `ALARM: "backlog"`)
	r.told(r.pass(start.Add(52 * time.Second)))
}

// Actions that are disabled meanwhile are not carried out, and a changed alarm keeps its waiting actions.
func TestChangesOfMutedAlarms(t *testing.T) {
	t.Parallel()
	r, end := newRig(t), start.Add(time.Minute)
	var names []string
	for i := range 120 { // more than one change handles
		a := backlog()
		a.Name = named(fmt.Sprint("a", i))
		r.create(a, start)
		names = append(names, a.Name.Name)
	}
	r.mute(end, names...)
	for _, name := range names {
		r.set(start, name+"=ALARM")
	}
	r.change(func(tx *monitor.Tx) error {
		is := backlog()
		is.Name = named("a0")
		return errors.Join(tx.Update(r.Alarm(named("a0")), is, start),
			tx.EnableActions(r.Alarm(named("a1")), false, start), tx.Delete(r.Alarm(named("a2")), start))
	})
	if got := r.pass(end); len(got) != 118 || got[0] != `ALARM: "a0"` {
		t.Errorf("%d notifications, %q first", len(got), got[0])
	}
}

// Muting a composite alarm does not mute its children. Its actions also wait for its suppressor.
func TestMutedComposite(t *testing.T) {
	t.Parallel()
	r, end := newRig(t), start.Truncate(time.Minute).Add(10*time.Minute)
	r.metric("a", "s")
	c := composite(t, "c", "ALARM(a)")
	c.Composite.Suppressor, c.Composite.Wait, c.Composite.Extension = "s", 0, 0
	r.set(start, "a=OK s=OK")
	r.create(c, start)
	r.told(r.pass(start.Add(time.Second)), `OK: "c"`)
	r.mute(end, "c")
	r.set(start.Add(time.Minute), "a=ALARM")
	r.told(r.pass(start.Add(time.Minute)))
	if got := r.Alarm(named("c")); got.State != alarm.Alarm || got.Muted == nil {
		t.Fatalf("%+v", got)
	}
	r.told(r.pass(end), `ALARM: "c"`)

	r.mute(end.Add(time.Hour), "c")
	r.set(end, "a=OK")
	r.told(r.pass(end.Add(time.Second)))
	r.set(end.Add(2*time.Second), "s=ALARM")
	r.mute(end, "c")
	r.combine(end.Add(3 * time.Second))
	r.told(r.pass(end.Add(3 * time.Second)))
	r.set(end.Add(time.Minute), "s=OK")
	r.told(r.pass(end.Add(time.Minute+time.Second)), `OK: "c"`)
}
