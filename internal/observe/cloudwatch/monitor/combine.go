package monitor

import (
	"context"
	"slices"
	"time"
)

const (
	// combineEvery is how often the composite alarms that depend on changes are evaluated.
	combineEvery = time.Second
	// combineTimeout is how long that may take. The rest is evaluated the next time.
	combineTimeout = 8 * time.Second
	// combinedAtOnce is how many of them share one change of the control store. Their records, history and
	// notifications repeat rules of up to 10 KiB.
	combinedAtOnce = 10
)

// combineLoop combines, and ends mutes, until ctx ends.
func (e *Evaluator) combineLoop(ctx context.Context) {
	tick := time.NewTicker(combineEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			e.report("composite alarms could not be evaluated", e.Combine(ctx, e.Now()))
			e.report("the actions of muted alarms could not be looked at", e.Unmute(ctx, e.Now()))
		}
	}
}

// Combine evaluates the composite alarms that depend on changes since the last time, and those with a period that has
// ended, until nothing changes any more. On a node that does not own the control store it does nothing.
func (e *Evaluator) Combine(ctx context.Context, now time.Time) error {
	if e.Monitor.control.Elsewhere() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, combineTimeout)
	defer cancel()
	e.Monitor.rank(now)
	for ctx.Err() == nil {
		some := e.Monitor.due(now)
		if len(some) == 0 {
			return nil
		}
		if err := e.Monitor.combine(ctx, some, now); err != nil {
			e.Monitor.again(some)
			return err
		}
	}
	return nil
}

// rank ranks the composite alarms that are due. Finding ranks may take half a second, in which others read and change
// alarms. Alarms whose ranks change meanwhile, or later, wait for the next time.
func (m *Monitor) rank(now time.Time) {
	families := m.records.Lock().composites.unranked(now)
	m.records.Unlock()
	for _, f := range families {
		found := rank(f.all)
		m.records.Lock()
		f.rankAs(found, f.version)
		m.records.Unlock()
	}
}

// due returns the composite alarms to evaluate next.
func (m *Monitor) due(now time.Time) []Name {
	r := m.records.Lock()
	defer m.records.Unlock()
	return r.composites.due(now)
}

// again makes composite alarms due once more.
func (m *Monitor) again(names []Name) {
	r := m.records.Lock()
	defer m.records.Unlock()
	for _, name := range names {
		r.composites.mark(name)
	}
}

// combine updates composite alarms that do not depend on each other.
func (m *Monitor) combine(ctx context.Context, names []Name, now time.Time) error {
	changing := slices.DeleteFunc(slices.Clone(names), func(n Name) bool {
		a := m.Alarm(n)
		if a == nil || a.Composite == nil {
			return true
		}
		is, _ := a.combined(m.Alarm, now)
		return is == nil
	})
	for some := range slices.Chunk(changing, combinedAtOnce) {
		if err := m.Change(ctx, func(tx *Tx) error { return tx.combine(some, now) }); err != nil {
			return err
		}
	}
	return nil
}

// combine updates alarms in their current state.
func (tx *Tx) combine(names []Name, now time.Time) error {
	for _, name := range names {
		was := tx.monitor.Alarm(name)
		if was == nil || was.Composite == nil {
			continue
		}
		is, act := was.combined(tx.monitor.Alarm, now)
		if is == nil {
			continue
		}
		if err := tx.settle(was, is, act, now); err != nil {
			return err
		}
	}
	return nil
}

// settle stores a composite alarm that has changed, with its history and its actions.
func (tx *Tx) settle(was, is *Alarm, act bool, now time.Time) error {
	if is.State != was.State {
		if err := tx.AddItem(is.Scope, transitionItem(was, is, now)); err != nil {
			return err
		}
	} else if item := suppressionItem(was, is, now); item != nil {
		if err := tx.AddItem(is.Scope, item); err != nil {
			return err
		}
	}
	tx.putActing(is.Composite.Suppression.From, is, act && is.ActionsEnabled, now)
	return nil
}
