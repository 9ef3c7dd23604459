package monitor

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Mutes reports which alarms rules mute. Windows begin and end with minutes.
type Mutes interface {
	Mutes(in series.Scope, alarm string, now time.Time) bool
	Version() uint64 // grows with each change of a rule
}

// Muted is in the record of an alarm that entered its state while it was muted: the actions of the state are due when
// no rule mutes the alarm any more. An alarm that enters another state first forgets them.
type Muted struct {
	From alarm.State // the state that the alarm left
}

// isMuted reports whether a rule mutes the actions of an alarm that has entered its state.
func (m *Monitor) isMuted(a *Alarm, now time.Time) bool {
	return len(a.actions(a.State)) > 0 && m.mutes != nil && m.mutes.Mutes(a.Scope, a.Name.Name, now)
}

// waiting are the alarms with a Muted.
type waiting struct {
	alarms  map[Name]bool
	entered uint64 // how many there were
}

func newWaiting() waiting { return waiting{alarms: make(map[Name]bool)} }

// replace replaces the alarm of a name; is may be nil.
func (w *waiting) replace(name Name, is *Alarm) {
	if is == nil || is.Muted == nil {
		delete(w.alarms, name)
		return
	}
	w.alarms[name] = true
	w.entered++
}

// look is the time, the rules and the alarms of Unmute's last check: the same check would find nothing new.
type look struct {
	minute           time.Time
	version, entered uint64
}

// unmuteAtOnce is how many alarms share one change of the control store.
const unmuteAtOnce = 50

// Unmute carries out the actions of alarms that no rule mutes any more. It looks at them once a minute, and after each
// change of a rule. On a node that does not own the control store it does nothing.
func (e *Evaluator) Unmute(ctx context.Context, now time.Time) error {
	held, entered := e.Monitor.held()
	if held == 0 || e.Monitor.mutes == nil || e.Monitor.control.Elsewhere() {
		return nil
	}
	seen := look{now.Truncate(series.Minute), e.Monitor.mutes.Version(), entered}
	if seen == e.looked {
		return nil
	}
	free := slices.DeleteFunc(e.Monitor.heldNames(), func(n Name) bool {
		return e.Monitor.mutes.Mutes(n.Scope, n.Name, now)
	})
	for some := range slices.Chunk(free, unmuteAtOnce) {
		if err := e.Monitor.Change(ctx, func(tx *Tx) error { return tx.unmute(some, now) }); err != nil {
			return err
		}
	}
	e.looked = seen
	return nil
}

// held returns how many alarms have waiting actions, and how many have ever had some.
func (m *Monitor) held() (now int, entered uint64) {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return len(r.waiting.alarms), r.waiting.entered
}

func (m *Monitor) heldNames() []Name {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return slices.Collect(maps.Keys(r.waiting.alarms))
}

// unmute carries out the actions of alarms that wait and are not muted.
func (tx *Tx) unmute(names []Name, now time.Time) error {
	for _, name := range names {
		was := tx.monitor.Alarm(name)
		if was == nil || was.Muted == nil || tx.monitor.mutes.Mutes(name.Scope, name.Name, now) {
			continue
		}
		is, act := was.unmuted()
		tx.put(is)
		if act {
			tx.act(was.Muted.From, is, true, now)
		}
	}
	return nil
}

// unmuted returns an alarm that is no longer muted, and whether to carry out its actions. They go on waiting if
// something else suppresses them.
func (a *Alarm) unmuted() (is *Alarm, act bool) {
	is = a.Clone()
	is.Muted = nil
	if is.Composite != nil && is.Composite.Suppression.By != "" {
		is.Composite.Suppression.Due, is.Composite.Suppression.From = true, a.Muted.From
		return is, false
	}
	return is, is.ActionsEnabled
}
