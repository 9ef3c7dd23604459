package monitor

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// MaxParents is the maximum number of composite alarms that name an alarm in their rules.
const MaxParents = 150

// composites records which composite alarms depend on which alarms, and which must be evaluated again.
//
// They are evaluated from the bottom: an alarm only when nothing in its rule is due any more. So a change that passes
// through several of them notifies once, about the final state of each.
type composites struct {
	all        map[series.Scope]map[Name]*Alarm
	parents    map[Name][]Name // by name: the alarms whose rules name it
	suppressed map[Name][]Name // by name: the alarms whose suppressor it is
	stale      map[Name]struct{}
	ends       map[Name]time.Time // when their WaitPeriod or ExtensionPeriod ends
	ranked     map[series.Scope]ranks
}

func newComposites() composites {
	return composites{
		all: make(map[series.Scope]map[Name]*Alarm), parents: make(map[Name][]Name), suppressed: make(map[Name][]Name),
		stale: make(map[Name]struct{}), ends: make(map[Name]time.Time), ranked: make(map[series.Scope]ranks),
	}
}

// replace replaces the alarm of a name; was or is may be nil.
func (c *composites) replace(name Name, was, is *Alarm) {
	if before, now := was.dependence(), is.dependence(); before != now {
		c.remove(name, was)
		c.add(is)
	}
	if is != nil && is.Composite != nil {
		c.keep(is)
	}
	for _, dependent := range slices.Concat(c.parents[name], c.suppressed[name]) {
		c.stale[dependent] = struct{}{}
	}
}

// dependence names the alarms on which a composite alarm depends. It is zero for a metric alarm, or no alarm.
type dependence struct{ rule, suppressor string }

func (a *Alarm) dependence() (d dependence) {
	if a != nil && a.Composite != nil {
		d = dependence{a.Composite.Rule, a.Composite.Suppressor}
	}
	return d
}

func (c *composites) add(a *Alarm) {
	if a == nil || a.Composite == nil {
		return
	}
	if c.all[a.Scope] == nil {
		c.all[a.Scope] = make(map[Name]*Alarm)
	}
	for _, child := range a.Composite.children {
		c.parents[child] = append(c.parents[child], a.Name)
	}
	if name, ok := a.suppressor(); ok {
		c.suppressed[name] = append(c.suppressed[name], a.Name)
	}
	delete(c.ranked, a.Scope)
}

// keep updates the record of a composite alarm, except for its dependence.
func (c *composites) keep(a *Alarm) {
	c.all[a.Scope][a.Name] = a
	delete(c.ends, a.Name)
	if until := a.Composite.Suppression.Until; !until.IsZero() {
		c.ends[a.Name] = until
	}
	c.stale[a.Name] = struct{}{}
}

func (c *composites) remove(name Name, a *Alarm) {
	if a == nil || a.Composite == nil {
		return
	}
	for _, child := range a.Composite.children {
		unlist(c.parents, child, name)
	}
	if suppressor, ok := a.suppressor(); ok {
		unlist(c.suppressed, suppressor, name)
	}
	delete(c.all[a.Scope], name)
	if len(c.all[a.Scope]) == 0 {
		delete(c.all, a.Scope)
	}
	delete(c.stale, name)
	delete(c.ends, name)
	delete(c.ranked, a.Scope)
}

// unlist removes a name from a list of m, and removes a list with its last name.
func unlist(m map[Name][]Name, key, name Name) {
	left := slices.DeleteFunc(slices.Clone(m[key]), func(n Name) bool { return n == name }) // readers may hold the list
	if m[key] = left; len(left) == 0 {
		delete(m, key)
	}
}

// dueAtOnce is how many alarms of a scope are evaluated before those of other scopes have their turn.
const dueAtOnce = 50

// due returns the composite alarms to evaluate next, some of the lowest rank in each scope, and clears their mark. It
// skips those without a rank.
func (c *composites) due(now time.Time) (out []Name) {
	for name, until := range c.ends {
		if !now.Before(until) {
			c.stale[name] = struct{}{}
		}
	}
	lowest := make(map[series.Scope]int)
	for name := range c.stale {
		rank, ok := c.ranks(name.Scope)[name]
		if !ok {
			delete(c.stale, name)
			continue
		}
		if least, some := lowest[name.Scope]; !some || rank < least {
			lowest[name.Scope] = rank
		}
	}
	taken := make(map[series.Scope]int)
	for _, name := range slices.SortedFunc(maps.Keys(c.stale), func(a, b Name) int {
		return strings.Compare(a.ARN(), b.ARN())
	}) {
		if c.ranks(name.Scope)[name] == lowest[name.Scope] && taken[name.Scope] < dueAtOnce {
			taken[name.Scope]++
			out = append(out, name)
			delete(c.stale, name)
		}
	}
	return out
}

// ranks returns the ranks of the composite alarms of a scope.
func (c *composites) ranks(of series.Scope) ranks {
	found, ok := c.ranked[of]
	if !ok {
		found = rank(c.all[of])
		c.ranked[of] = found
	}
	return found
}

// Parents returns the composite alarms whose rules name an alarm, in order of their names.
func (m *Monitor) Parents(of Name) []*Alarm {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.named(r.composites.parents[of])
}

// Dependents returns the composite alarms that name an alarm in their rules or as their suppressor, in order of their
// names.
func (m *Monitor) Dependents(of Name) []*Alarm {
	r := m.records.RLock()
	defer m.records.RUnlock()
	all := make(map[Name]struct{})
	for _, name := range slices.Concat(r.composites.parents[of], r.composites.suppressed[of]) {
		all[name] = struct{}{}
	}
	return r.named(slices.Collect(maps.Keys(all)))
}

// Children returns the alarms that the rule of an alarm names, in order of their names.
func (m *Monitor) Children(of *Alarm) []*Alarm {
	if of.Composite == nil {
		return nil
	}
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.named(of.Composite.children)
}

// named returns the existing alarms of these names, in order.
func (r *records) named(names []Name) (out []*Alarm) {
	for _, name := range names {
		if a := r.alarms[name]; a != nil {
			out = append(out, a)
		}
	}
	sortAlarms(out)
	return out
}
