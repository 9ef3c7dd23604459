package monitor

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/tool/plainjson"
)

// Tx is a change in progress. The monitor's answers are unchanged until the change is durable.
type Tx struct {
	tx      *control.Tx
	monitor *Monitor
	added   map[series.Scope]int // items of history
}

// Change makes a change of several records, all or none. f decides about it: it reads the monitor, which does not
// change meanwhile; see control.Control.Change. Change first checks that all programs that read the records can do so,
// and returns the error of Options.Formats if not.
func (m *Monitor) Change(ctx context.Context, f func(*Tx) error) error {
	return m.records.Change(ctx, func(tx *control.Tx) error {
		change := &Tx{tx, m, make(map[series.Scope]int)}
		if err := f(change); err != nil {
			return err
		}
		for scope, added := range change.added {
			if err := m.makeRoom(tx, scope, added); err != nil {
				return err
			}
		}
		return nil
	})
}

// Create adds an alarm, which has no data yet.
func (tx *Tx) Create(a *Alarm, now time.Time) error {
	if a.Composite != nil {
		if err := tx.monitor.records.MayNeed(formats.Composites); err != nil {
			return err
		}
	}
	if err := tx.mayHaveBand(a); err != nil {
		return err
	}
	a.Created, a.Updated = stamp(now), stamp(now)
	a.State, a.Reason, a.ReasonData = alarm.Insufficient, "Unchecked: Initial alarm creation", ""
	a.StateSet, a.StateBegan = stamp(now), stamp(now)
	if err := tx.putFitting(nil, a); err != nil {
		return err
	}
	return tx.AddItem(a.Scope, configured(a, created, now))
}

// Update replaces the configuration of an alarm by another of its kind. State and tags stay.
func (tx *Tx) Update(was, is *Alarm, now time.Time) error {
	if err := tx.mayHaveBand(is); err != nil {
		return err
	}
	is.Created, is.Updated, is.Tags = was.Created, stamp(now), was.Tags
	is.State, is.Reason, is.ReasonData = was.State, was.Reason, was.ReasonData
	is.StateSet, is.StateBegan, is.Muted = was.StateSet, was.StateBegan, was.Muted
	if is.Composite != nil {
		is.Composite.Suppression = was.Composite.Suppression.under(was.Composite.Suppressor == is.Composite.Suppressor)
	}
	if err := tx.putFitting(was, is); err != nil {
		return err
	}
	return tx.AddItem(is.Scope, configured(is, updated, now))
}

// Retag replaces the tags of an alarm.
func (tx *Tx) Retag(a *Alarm, tags map[string]string) error {
	c := a.Clone()
	c.Tags = tags
	return tx.putFitting(a, c)
}

// Delete removes an alarm. Its history stays.
func (tx *Tx) Delete(a *Alarm, now time.Time) error {
	alarmTable.Delete(tx.tx, a.Name)
	return tx.AddItem(a.Scope, configured(a, deleted, now))
}

// EnableActions sets whether an alarm's actions are carried out.
func (tx *Tx) EnableActions(a *Alarm, enabled bool, now time.Time) error {
	if a.ActionsEnabled == enabled {
		return nil
	}
	c := a.Clone()
	c.ActionsEnabled, c.Updated = enabled, stamp(now)
	tx.put(c)
	return tx.AddItem(c.Scope, configured(c, updated, now))
}

// Transition sets the state of an alarm, and adds a record for each of its actions. If the alarm has the state already,
// only the reason changes. A composite alarm keeps the state until its children have other states.
func (tx *Tx) Transition(was *Alarm, d alarm.Decision, now time.Time) error {
	is := was.Clone()
	is.enter(d, now)
	if is.Composite != nil {
		is.Composite.Held = is.heldStates(tx.monitor.Alarm)
		act := is.suppress(was, tx.monitor.Alarm, now)
		return tx.settle(was, is, act, now)
	}
	if is.State == was.State {
		tx.put(is)
		return nil
	}
	if err := tx.AddItem(is.Scope, transitionItem(was, is, now)); err != nil {
		return err
	}
	tx.putActing(was.State, is, is.ActionsEnabled && !is.IsWarmingUp(now), now)
	return nil
}

// putActing stores an alarm that left a state, with its actions if act says so. A muted alarm keeps them for later.
func (tx *Tx) putActing(from alarm.State, is *Alarm, act bool, now time.Time) {
	if act && tx.monitor.isMuted(is, now) {
		is.Muted, act = &Muted{From: from}, false
	}
	tx.put(is)
	if act {
		tx.act(from, is, false, now)
	}
}

// act adds a record for each action of an alarm that left a state. late says that a mute rule has delayed them.
func (tx *Tx) act(from alarm.State, is *Alarm, late bool, now time.Time) {
	for _, target := range is.actions(is.State) {
		a := newAction(from, is, target, late, now)
		actionTable.Put(tx.tx, a.id, a)
	}
}

// Done removes the record of an action, and records its outcome.
func (tx *Tx) Done(a *Action, failure string, now time.Time) error {
	actionTable.Delete(tx.tx, a.id)
	item := &Item{
		Alarm: a.Alarm.Name, Composite: a.Composite, Kind: Acted, Time: now,
		Summary: "Successfully executed action " + a.Target,
	}
	data := map[string]any{
		"actionState": "Succeeded", "notificationResource": a.Target, "stateUpdateTimestamp": a.Created.UnixMilli(),
		"error":            nil,
		"publishedMessage": string(encode(map[string]string{"default": a.Message})), // as on AWS: JSON in JSON
	}
	if failure != "" {
		item.Summary = "Failed to execute action " + a.Target + ". Received error: " + encodeText(failure)
		data["actionState"], data["error"] = "Failed", failure
	}
	item.Data = historyData(data, func() { delete(data, "publishedMessage") })
	return tx.AddItem(a.Alarm.Scope, item)
}

func (tx *Tx) put(a *Alarm) { alarmTable.Put(tx.tx, a.Name, a) }

// stamp rounds a time to its stored form, in milliseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// encode encodes values of this package, all of which have a JSON form. People read some of them: characters such as >
// are not escaped.
func encode(v any) []byte {
	b, err := plainjson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

func encodeText(s string) string { return string(encode(s)) }
