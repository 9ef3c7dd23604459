package monitor

import (
	"slices"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
)

// Samples of different units are different series, as on AWS. The unit of a metric's first sample is stored under the
// hash of the metric, as all samples were before units were distinguished. Each other unit has a key of its own.

// unitKey returns the storage key for samples of a unit other than the metric's first one.
func unitKey(id series.ID, unit string) string { return digest(append(parts(id), unit)) }

// keyOf returns the storage key of a sample. find returns the metric of a key, or nil.
func keyOf(s *Sample, find func(key string) *Metric) string {
	first, other := hash(s.ID), unitKey(s.ID, s.Unit)
	if find(other) != nil {
		return other
	}
	if m := find(first); m == nil || m.Unit == s.Unit {
		return first
	}
	return other
}

// listUnit records the keys of a metric's units. The lists are replaced, because readers may hold them.
func (r *records) listUnit(key string, old, is *Metric) error {
	if old != nil {
		of := hash(old.ID)
		left := slices.DeleteFunc(slices.Clone(r.units[of]), func(k string) bool { return k == key })
		if r.units[of] = left; len(left) == 0 {
			delete(r.units, of)
		}
	}
	if is != nil {
		of := hash(is.ID)
		r.units[of] = append(slices.Clone(r.units[of]), key)
		slices.Sort(r.units[of])
	}
	return nil
}

// Units returns the units of a series that has points, in order.
func (m *Monitor) Units(id series.ID) (out []string) {
	if known, ok := series.Find(id.Namespace, id.Metric); ok {
		return []string{known.Unit}
	}
	r := m.records.RLock()
	defer m.records.RUnlock()
	for _, key := range r.units[hash(id)] {
		if unit := r.metrics[key].Unit; !slices.Contains(out, unit) {
			out = append(out, unit)
		}
	}
	slices.Sort(out)
	return out
}

// keys returns the storage keys of the points of a series: of its unit, or of all units.
func (m *Monitor) keys(id series.ID) (out []string) {
	r := m.records.RLock()
	defer m.records.RUnlock()
	for _, key := range r.units[hash(id)] {
		if id.Unit == "" || r.metrics[key].Unit == id.Unit {
			out = append(out, key)
		}
	}
	return out
}
