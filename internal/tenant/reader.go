package tenant

import (
	"fmt"
	"iter"
	"maps"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// reader reads the control store for Tenants.
type reader struct{ t *Tenants }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := make(map[Subject]Limits)
	for k, v := range all {
		if err := r.t.needFormat(); err != nil {
			return err
		}
		if err := put(fresh, k, v); err != nil {
			return err
		}
	}
	r.t.replace(func(map[Subject]Limits) map[Subject]Limits { return fresh })
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	if err := r.t.needFormat(); err != nil {
		return err
	}
	var failed error
	r.t.replace(func(all map[Subject]Limits) map[Subject]Limits {
		for _, ch := range changes {
			if !ch.Removed {
				if failed = put(all, ch.Key, ch.Value); failed != nil {
					break
				}
			} else if s, err := subjectIn(ch.Key); err == nil {
				delete(all, s)
			}
		}
		return all
	})
	return failed
}

func put(all map[Subject]Limits, key string, value []byte) error {
	s, err := subjectIn(key)
	if err != nil {
		return err
	}
	l, err := decodeLimits(value)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	all[s] = l
	return nil
}

// replace makes the meters those of what f returns about the limits that there are. Subjects that stay keep theirs.
func (t *Tenants) replace(f func(map[Subject]Limits) map[Subject]Limits) {
	t.changing.Lock()
	defer t.changing.Unlock()
	old := t.all()
	limits := make(map[Subject]Limits, len(old))
	for s, m := range old {
		limits[s] = *m.limits.Load()
	}
	limits = f(limits)
	if len(limits) == 0 {
		t.meters.Store(nil)
		return
	}
	meters := make(map[Subject]*meter, len(limits))
	for s, l := range limits {
		m := old[s]
		if m == nil {
			m = newMeter(s)
		}
		if had := m.limits.Load(); had == nil || !maps.Equal(*had, l) {
			m.set(l, t.o.Now())
		}
		meters[s] = m
	}
	t.meters.Store(&meters)
}

// Check reads the records of a store without changing anything, and returns how many subjects have limits and what is
// not as it should be. An error says that the store could not be read.
func Check(s *store.Store) (subjects int, problems []string, err error) {
	all := make(map[Subject]Limits)
	err = control.Records(s, Prefix, func(k string, v []byte) bool {
		if bad := put(all, k, v); bad != nil {
			problems = append(problems, "record "+bad.Error())
		}
		return true
	})
	if err != nil {
		return 0, problems, fmt.Errorf("check limits: %w", err)
	}
	return len(all), problems, nil
}
