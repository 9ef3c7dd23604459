package monitor

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
)

// unread is the reader of records that are not kept in memory.
type unread struct{}

// Load implements control.Reader.
func (unread) Load(iter.Seq2[string, []byte]) error { return nil }

// Apply implements control.Reader.
func (unread) Apply([]control.Change) error { return nil }

// reader is how the monitor learns what is in the control store.
type reader struct{ m *Monitor }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := newRecords()
	for k, v := range all {
		if err := fresh.put(k, v); err != nil {
			return err
		}
	}
	r.m.mu.Lock()
	r.m.records = fresh
	r.m.mu.Unlock()
	if fresh.empty() {
		return nil
	}
	return r.m.needFormats()
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	if err := r.m.apply(changes); err != nil {
		return err
	}
	return r.m.needFormats()
}

func (m *Monitor) apply(changes []control.Change) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, ch := range changes {
		if ch.Removed {
			m.remove(ch.Key)
		} else if err := m.put(ch.Key, ch.Value); err != nil {
			return err
		}
	}
	return nil
}

func newRecords() records {
	return records{
		alarms: make(map[Name]*Alarm), composites: newComposites(), dashboards: make(map[string]*Dashboard), metrics: make(map[string]*Metric), units: make(map[string][]string),
		actions: make(map[string]*Action),
	}
}

// put takes in a record.
func (r *records) put(key string, value []byte) error {
	var err error
	switch {
	case strings.HasPrefix(key, keyAlarm):
		a := new(Alarm)
		if err = json.Unmarshal(value, a); err == nil {
			r.putAlarm(a)
		}
	case strings.HasPrefix(key, keyAction):
		a := &Action{Key: key}
		if err = json.Unmarshal(value, a); err == nil {
			r.actions[key] = a
		}
	case strings.HasPrefix(key, keyDashboard):
		err = r.putDashboard(key, value)
	case strings.HasPrefix(key, keyMetric):
		metric := new(Metric)
		if err = json.Unmarshal(value, metric); err == nil {
			r.putMetric(key[len(keyMetric):], metric)
		}
	default:
		err = errors.New("unknown key, written by a newer program")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// putAlarm takes in an alarm. A rule that cannot be read makes a composite alarm that is not evaluated; Check reports it.
func (r *records) putAlarm(a *Alarm) {
	if a.Composite != nil {
		_ = a.Composite.read(a.Scope)
	}
	was := r.alarms[a.Name]
	r.alarms[a.Name] = a
	r.composites.replace(a.Name, was, a)
}

// remove forgets a record.
func (r *records) remove(key string) {
	switch {
	case strings.HasPrefix(key, keyAlarm):
		if n, ok := alarmName(key); ok {
			r.composites.replace(n, r.alarms[n], nil)
			delete(r.alarms, n)
		}
	case strings.HasPrefix(key, keyAction):
		delete(r.actions, key)
	case strings.HasPrefix(key, keyDashboard):
		delete(r.dashboards, key)
	case strings.HasPrefix(key, keyMetric):
		r.removeMetric(key[len(keyMetric):])
	}
}
