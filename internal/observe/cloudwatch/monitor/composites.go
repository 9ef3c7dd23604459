package monitor

import (
	"cmp"
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
	families   map[series.Scope]*family // those with members
	stale      map[series.Scope]*family // those with stale members
	parents    map[Name][]Name          // by name: the alarms whose rules name it
	suppressed map[Name][]Name          // by name: the alarms whose suppressor it is
	ends       map[Name]time.Time       // when their WaitPeriod or ExtensionPeriod ends
	ended      time.Time                // the time up to which ends was searched
}

func newComposites() composites {
	return composites{
		families: make(map[series.Scope]*family), stale: make(map[series.Scope]*family),
		parents: make(map[Name][]Name), suppressed: make(map[Name][]Name), ends: make(map[Name]time.Time),
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
		c.mark(dependent)
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
	if c.families[a.Scope] == nil {
		c.families[a.Scope] = newFamily()
	}
	for _, child := range a.Composite.children {
		c.parents[child] = append(c.parents[child], a.Name)
	}
	if name, ok := a.suppressor(); ok {
		c.suppressed[name] = append(c.suppressed[name], a.Name)
	}
	c.families[a.Scope].unrank()
}

// keep updates the record of a composite alarm, except for its dependence.
func (c *composites) keep(a *Alarm) {
	c.families[a.Scope].all[a.Name] = a
	delete(c.ends, a.Name)
	if until := a.Composite.Suppression.Until; !until.IsZero() {
		c.ends[a.Name] = until
		if until.Before(c.ended) {
			c.ended = until
		}
	}
	c.mark(a.Name)
}

// mark makes an alarm due, if it is a composite alarm.
func (c *composites) mark(name Name) {
	if f := c.families[name.Scope]; f != nil && f.all[name] != nil {
		f.mark(name)
		c.stale[name.Scope] = f
	}
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
	delete(c.ends, name)
	f := c.families[name.Scope]
	if f.remove(name); len(f.all) == 0 {
		delete(c.families, name.Scope)
		delete(c.stale, name.Scope)
	}
}

// unlist removes a name from a list of m, and removes a list with its last name.
func unlist(m map[Name][]Name, key, name Name) {
	left := slices.DeleteFunc(slices.Clone(m[key]), func(n Name) bool { return n == name }) // readers may hold the list
	if m[key] = left; len(left) == 0 {
		delete(m, key)
	}
}

// due returns the composite alarms to evaluate next, some of the lowest rank in each scope, and clears their mark. It
// skips those without a rank.
func (c *composites) due(now time.Time) (out []Name) {
	c.markEnded(now)
	for scope, f := range c.stale {
		if out = append(out, f.next()...); len(f.stale) == 0 {
			delete(c.stale, scope)
		}
	}
	slices.SortFunc(out, compareNames)
	return out
}

// unrankedFamily is a copy of a family whose ranks are to be found.
type unrankedFamily struct {
	*family
	all     map[Name]*Alarm
	version int
}

// unranked returns the families whose stale alarms wait for ranks.
func (c *composites) unranked(now time.Time) (out []unrankedFamily) {
	c.markEnded(now)
	for _, f := range c.stale {
		if f.ranks == nil {
			out = append(out, unrankedFamily{f, maps.Clone(f.all), f.version})
		}
	}
	return out
}

// markEnded makes the alarms due whose periods have ended. It searches once for each time.
func (c *composites) markEnded(now time.Time) {
	if c.ended.Equal(now) {
		return
	}
	c.ended = now
	for name, until := range c.ends {
		if !now.Before(until) {
			c.mark(name)
		}
	}
}

// compareNames orders names by region, account and name.
func compareNames(a, b Name) int {
	return cmp.Or(
		strings.Compare(a.Region, b.Region), strings.Compare(a.Account, b.Account), strings.Compare(a.Name, b.Name),
	)
}

// Parents returns the composite alarms whose rules name an alarm, in order of their names.
func (m *Monitor) Parents(of Name) []*Alarm {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.named(r.composites.parents[of])
}

// CountParents returns how many composite alarms name an alarm in their rules, apart from one of them.
func (m *Monitor) CountParents(of, apart Name) (n int) {
	r := m.records.RLock()
	defer m.records.RUnlock()
	for _, parent := range r.composites.parents[of] {
		if parent != apart {
			n++
		}
	}
	return n
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
