package monitor

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/metricdata"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Options configures Open.
type Options struct {
	Control *control.Control
	Formats control.Formats
	// Training returns how to learn the expected values of a metric, see metricdata.Source.
	Training func(series.Scope, *metricdata.Stat) metricdata.Training
	Mutes    Mutes // nil: no alarm is ever muted
}

// Monitor holds alarms, dashboards and metrics. Its methods are safe for concurrent use.
type Monitor struct {
	control  *control.Control
	records  *control.Set[records]
	shelves  *shelves
	sketches sketchRoom
	training func(series.Scope, *metricdata.Stat) metricdata.Training
	mutes    Mutes
}

// Prefixes of keys. The others are those of tables.
const (
	Prefix     = "monitor/" // of all of them
	keyHistory = Prefix + "history/"
	keyPoints  = Prefix + "points/"
)

// escape makes a name part of a key.
func escape(name string) string { return url.PathEscape(name) }

// Open reads the records from the control store and follows their changes.
func Open(o Options) (*Monitor, error) {
	m := &Monitor{control: o.Control, shelves: newShelves(), training: o.Training, mutes: o.Mutes}
	m.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: newRecords, Needs: needs,
	})
	m.sketches = sketchRoom{most: allSketchesAtMost, used: make(map[string]int)}
	if err := o.Control.Register(keyHistory, m.shelves); err != nil {
		return nil, err
	}
	if err := o.Control.Register(keyPoints, unread{}); err != nil {
		return nil, err
	}
	return m, m.records.Register()
}

// Alarm returns the alarm of that name, or nil.
func (m *Monitor) Alarm(n Name) *Alarm {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return r.alarms[n]
}

// Alarms returns the alarms of a region of an account, in order of their names.
func (m *Monitor) Alarms(s series.Scope) []*Alarm {
	r := m.records.RLock()
	out := control.Where(r.holding(s.Account).alarms, func(a *Alarm) bool { return a.Scope == s })
	m.records.RUnlock()
	sortAlarms(out)
	return out
}

// Watched returns the series that alarms watch by name, some more than once.
func (m *Monitor) Watched() []series.ID {
	var out []series.ID
	for _, a := range m.Where(func(*Alarm) bool { return true }) {
		add := func(s *metricdata.Stat) {
			if s != nil {
				out = append(out, series.ID{
					Scope: a.Scope, Namespace: s.Namespace, Metric: s.Metric, Dimensions: s.Dimensions,
				})
			}
		}
		add(a.Metric)
		for i := range a.Queries {
			add(a.Queries[i].Stat)
		}
	}
	return out
}

// Where returns the alarms of all accounts that satisfy keep, ordered by name.
func (m *Monitor) Where(keep func(*Alarm) bool) []*Alarm {
	r := m.records.RLock()
	out := control.Where(r.alarms, keep)
	m.records.RUnlock()
	sortAlarms(out)
	return out
}

// sortAlarms puts alarms in order of their names.
func sortAlarms(all []*Alarm) {
	slices.SortFunc(all, func(a, b *Alarm) int { return strings.Compare(a.Name.Name, b.Name.Name) })
}

// Count returns the total number of alarms.
func (m *Monitor) Count() int {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return len(r.alarms)
}

// CountIn returns the number of alarms in a region of an account, and in all its regions.
func (m *Monitor) CountIn(s series.Scope) (region, account int) {
	r := m.records.RLock()
	defer m.records.RUnlock()
	return series.CountIn(r.holding(s.Account).alarms, func(n Name) series.Scope { return n.Scope }, s)
}

// pending returns the actions to carry out, oldest first.
func (m *Monitor) pending() []*Action {
	r := m.records.RLock()
	out := slices.Collect(maps.Values(r.actions))
	m.records.RUnlock()
	slices.SortFunc(out, func(a, b *Action) int { return strings.Compare(a.id, b.id) })
	return out
}
