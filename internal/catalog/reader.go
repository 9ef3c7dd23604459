package catalog

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// reader reads the control store for the catalog.
type reader struct{ c *Catalog }

// changed is a change of a queue that the watchers learn of.
type changed struct{ old, new *Queue }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := newRecords()
	fresh.purgeAnytime = r.c.noCoolDowns
	for k, v := range all {
		if _, err := fresh.put(k, v); err != nil {
			return err
		}
	}
	if len(fresh.secret) == 0 {
		return ErrUninitialised
	}
	if err := r.require(!fresh.idleSince.IsZero(), len(fresh.buried) > 0); err != nil {
		return err
	}
	r.c.mu.Lock()
	old := r.c.records
	r.c.records = fresh
	r.c.mu.Unlock()
	r.tell(differences(old, fresh))
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	all, err := r.apply(changes)
	r.tell(all)
	return err
}

func (r reader) apply(changes []control.Change) (all []changed, err error) {
	idle := func(ch control.Change) bool { return ch.Key == keyIdleSince && !ch.Removed }
	if err := r.require(slices.ContainsFunc(changes, idle), slices.ContainsFunc(changes, isTombstone)); err != nil {
		return nil, err
	}
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	for _, ch := range changes {
		var one changed
		if ch.Removed {
			one, err = r.c.remove(ch.Key)
		} else {
			one, err = r.c.put(ch.Key, ch.Value)
		}
		if err != nil {
			return all, err
		}
		if one != (changed{}) {
			all = append(all, one)
		}
	}
	return all, nil
}

// require writes down what the data directory needs for the records that it is about to have.
func (r reader) require(idle, tombstones bool) error {
	if idle {
		if err := r.c.requireIdle(); err != nil {
			return err
		}
	}
	if tombstones {
		return r.c.requireTombstones()
	}
	return nil
}

// tell tells the watchers. It holds no lock, because they may look at the catalog.
func (r reader) tell(all []changed) {
	r.c.mu.RLock()
	watchers := r.c.watchers
	r.c.mu.RUnlock()
	for _, ch := range all {
		for _, f := range watchers {
			f(ch.old, ch.new)
		}
	}
}

// differences are the changes that make new out of old, deletions first, then in
// the order in which the queues were made.
func differences(old, new records) []changed {
	var all []changed
	for id, q := range old.byID {
		if new.byID[id] == nil {
			all = append(all, changed{q, nil})
		}
	}
	gone := len(all)
	for id, q := range new.byID {
		if was := old.byID[id]; was == nil || string(encode(was)) != string(encode(q)) {
			all = append(all, changed{was, q})
		}
	}
	slices.SortFunc(all[gone:], func(a, b changed) int { return cmp.Compare(a.new.ID, b.new.ID) })
	return all
}

func newRecords() records {
	return records{
		queues: make(map[Name]*Queue), byID: make(map[queue.ID]*Queue), counts: make(map[namespace]int),
		deleted: make(map[Name]time.Time), buried: make(tombstones),
	}
}

// put adds a record or replaces it.
func (r *records) put(k string, v []byte) (changed, error) {
	switch {
	case k == keySecret:
		r.secret = slices.Clone(v)
	case k == keyLastID:
		if err := json.Unmarshal(v, &r.lastID); err != nil {
			return changed{}, fmt.Errorf("%s: %w", k, err)
		}
	case k == keyIdleSince:
		if err := json.Unmarshal(v, &r.idleSince); err != nil {
			return changed{}, fmt.Errorf("%s: %w", k, err)
		}
	case strings.HasPrefix(k, keyQueue):
		q := &Queue{purgeAnytime: r.purgeAnytime}
		if err := json.Unmarshal(v, q); err != nil {
			return changed{}, fmt.Errorf("%s: %w", k, err)
		}
		old := r.queues[q.Name]
		if old != nil {
			delete(r.byID, old.ID)
		} else {
			r.counts[q.Name.namespace()]++
		}
		r.queues[q.Name], r.byID[q.ID] = q, q
		return changed{old, q}, nil
	case strings.HasPrefix(k, keyDeleted):
		n, err := nameIn(k, keyDeleted)
		var at time.Time
		if err := errors.Join(err, json.Unmarshal(v, &at)); err != nil {
			return changed{}, fmt.Errorf("%s: %w", k, err)
		}
		r.deleted[n] = at
	case strings.HasPrefix(k, keyTombstones):
		if err := r.buried.put(k, v); err != nil {
			return changed{}, fmt.Errorf("%s: %w", k, err)
		}
	default:
		return changed{}, errUnknown(k)
	}
	return changed{}, nil
}

// remove removes a record.
func (r *records) remove(k string) (changed, error) {
	switch {
	case k == keyIdleSince:
		r.idleSince = time.Time{}
		return changed{}, nil
	case strings.HasPrefix(k, keyQueue):
		n, err := nameIn(k, keyQueue)
		if err != nil {
			return changed{}, err
		}
		q := r.queues[n]
		if q == nil {
			return changed{}, nil
		}
		delete(r.queues, n)
		delete(r.byID, q.ID)
		if r.counts[n.namespace()]--; r.counts[n.namespace()] == 0 {
			delete(r.counts, n.namespace())
		}
		return changed{q, nil}, nil
	case strings.HasPrefix(k, keyDeleted):
		n, err := nameIn(k, keyDeleted)
		delete(r.deleted, n)
		return changed{}, err
	}
	return changed{}, errUnknown(k)
}

// nameIn returns the name in a key, behind its prefix.
func nameIn(k, prefix string) (n Name, err error) {
	if err := json.Unmarshal([]byte(k[len(prefix):]), &n); err != nil {
		return n, fmt.Errorf("%s: %w", k, err)
	}
	return n, nil
}

func errUnknown(k string) error { return fmt.Errorf("unknown key %q, written by a newer program", k) }
