package monitor

import (
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/metricdata"
	"github.com/sluicemq/sluice/internal/observe/series"
)

// Options are what Open needs.
type Options struct {
	Control *control.Control
	// Ready is called before the first record is written. Its error says that some program which reads the control store
	// does not know of alarms. A nil Ready means that all do.
	Ready func() error
	// Require is called before the first record is written, and when one is first read here. It writes down that the data
	// directory needs a program that knows of alarms. A nil Require means that nothing needs to be written down.
	Require func() error
	// ReadyComposite and RequireComposite are the same for composite alarms, of which not all programs know that know of
	// alarms.
	ReadyComposite   func() error
	RequireComposite func() error
}

// Monitor holds alarms, dashboards and metrics. Its methods may be called from any goroutine.
type Monitor struct {
	control        *control.Control
	gate           gate
	compositesGate gate
	shelves        *shelves
	sketches       sketchRoom

	mu sync.RWMutex
	records
}

// records are what is in memory of what is in the store.
type records struct {
	alarms     map[Name]*Alarm
	composites composites
	dashboards map[string]*Dashboard // by key
	metrics    map[string]*Metric    // by key: one for each unit of a metric; see unit.go
	units      map[string][]string   // the keys of a metric's units, by its hash
	actions    map[string]*Action    // by key
}

// Keys of the store.
const (
	Prefix       = "monitor/" // of all of them
	keyAlarm     = Prefix + "alarm/"
	keyHistory   = Prefix + "history/"
	keyAction    = Prefix + "action/"
	keyDashboard = Prefix + "dashboard/"
	keyMetric    = Prefix + "metric/"
	keyPoints    = Prefix + "points/"
)

// escape makes a name a part of a key.
func escape(name string) string { return url.PathEscape(name) }

func alarmKey(n Name) string {
	return keyAlarm + n.Account + "/" + n.Region + "/" + escape(n.Name)
}

// alarmName returns the name of the alarm whose record is under a key.
func alarmName(key string) (n Name, ok bool) {
	parts := strings.SplitN(key[len(keyAlarm):], "/", 3)
	if len(parts) != 3 {
		return n, false
	}
	name, err := url.PathUnescape(parts[2])
	return Name{series.Scope{Account: parts[0], Region: parts[1]}, name}, err == nil
}

// Open reads what is in the control store and follows its changes.
func Open(o Options) (*Monitor, error) {
	m := &Monitor{control: o.Control, shelves: newShelves(), records: newRecords()}
	m.sketches.used = make(map[string]int)
	m.gate.init(o.Ready, o.Require)
	m.compositesGate.init(o.ReadyComposite, o.RequireComposite)
	if err := o.Control.Register(keyHistory, m.shelves); err != nil {
		return nil, err
	}
	if err := o.Control.Register(keyPoints, unread{}); err != nil {
		return nil, err
	}
	return m, o.Control.Register(Prefix, reader{m})
}

// needFormats has written down what the records need that were read.
func (m *Monitor) needFormats() error {
	m.mu.RLock()
	composites := len(m.composites.all) > 0
	m.mu.RUnlock()
	if err := m.gate.pass(); err != nil || !composites {
		return err
	}
	return m.compositesGate.pass()
}

// mayWrite returns an error if no record must be written yet.
func (m *Monitor) mayWrite() error {
	m.mu.RLock()
	none := m.records.empty()
	m.mu.RUnlock()
	return m.gate.mayWrite(none)
}

// mayWriteComposite returns an error if no composite alarm must be written yet.
func (m *Monitor) mayWriteComposite() error {
	m.mu.RLock()
	none := len(m.composites.all) == 0
	m.mu.RUnlock()
	return m.compositesGate.mayWrite(none)
}

func (r *records) empty() bool {
	return len(r.alarms)+len(r.dashboards)+len(r.metrics)+len(r.actions) == 0
}

// Alarm returns the alarm of that name, or nil.
func (m *Monitor) Alarm(n Name) *Alarm {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.alarms[n]
}

// Alarms returns the alarms of a region of an account, in order of their names.
func (m *Monitor) Alarms(s series.Scope) []*Alarm {
	return m.Where(func(a *Alarm) bool { return a.Scope == s })
}

// Watched returns the series that alarms watch by name, some more than once.
func (m *Monitor) Watched() []series.ID {
	var out []series.ID
	for _, a := range m.Where(func(*Alarm) bool { return true }) {
		add := func(s *metricdata.Stat) {
			if s != nil {
				out = append(out, series.ID{Scope: a.Scope, Namespace: s.Namespace, Metric: s.Metric, Dimensions: s.Dimensions})
			}
		}
		add(a.Metric)
		for i := range a.Queries {
			add(a.Queries[i].Stat)
		}
	}
	return out
}

// Where returns the alarms of all accounts that are to be kept, in order of their names.
func (m *Monitor) Where(keep func(*Alarm) bool) []*Alarm {
	m.mu.RLock()
	var out []*Alarm
	for _, a := range m.alarms {
		if keep(a) {
			out = append(out, a)
		}
	}
	m.mu.RUnlock()
	sortAlarms(out)
	return out
}

// sortAlarms puts alarms in order of their names.
func sortAlarms(all []*Alarm) {
	slices.SortFunc(all, func(a, b *Alarm) int { return strings.Compare(a.Name.Name, b.Name.Name) })
}

// Count returns how many alarms there are in all.
func (m *Monitor) Count() int {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.alarms)
}

// pending returns the actions that are to be carried out, oldest first.
func (m *Monitor) pending() []*Action {
	m.mu.RLock()
	var out []*Action
	for _, a := range m.actions {
		out = append(out, a)
	}
	m.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Action) int { return strings.Compare(a.Key, b.Key) })
	return out
}
