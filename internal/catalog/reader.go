package catalog

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
)

// The tables have no common prefix: the catalog reads all records that no other reader has.
var (
	queueTable   = control.Table[Name, Queue]{Prefix: "queue/", Key: control.JSON[Name]()}
	deletedTable = control.Table[Name, time.Time]{Prefix: "deleted/", Key: control.JSON[Name]()} // when
	lastIDTable  = control.Table[struct{}, queue.ID]{Prefix: "last-id", Key: control.Alone}
	secretTable  = control.Table[struct{}, []byte]{
		Prefix: "receipt-secret", Key: control.Alone, Read: readSecret, Write: writeSecret,
	}
	// idleSinceTable has the time since which the use of queues is watched.
	idleSinceTable = control.Table[struct{}, time.Time]{Prefix: "idle-since", Key: control.Alone, Format: formats.Idle}
)

// alone is the key of a table with at most one record.
var alone struct{}

func readSecret(_ struct{}, value []byte) (*[]byte, error) {
	secret := slices.Clone(value)
	return &secret, nil
}

func writeSecret(secret *[]byte) []byte { return *secret }

// records are the records of the store, and the indexes that are derived from them.
type records struct {
	queues    map[Name]*Queue
	deleted   map[Name]*time.Time
	buried    map[uint64]*idRanges // by block
	lastID    map[struct{}]*queue.ID
	secret    map[struct{}]*[]byte
	idleSince map[struct{}]*time.Time
	shelf     map[queue.ID]*Queue

	byID    map[queue.ID]*Queue
	order   order
	counts  map[string]int // of queues, by account; only where there are any
	shelved map[string]int // deleted queues whose deletion can be undone, by account
	pausing int            // queues with paused groups
	changed []changed      // for the watchers
}

// changed is a change of a queue for the watchers.
type changed struct{ old, new *Queue }

// recordsOf returns a function that makes empty records. purgeAnytime is set on each of their queues.
func recordsOf(purgeAnytime bool) func() (*records, control.Kinds) {
	return func() (*records, control.Kinds) {
		r := &records{
			byID: make(map[queue.ID]*Queue), order: newOrder(), counts: make(map[string]int),
			shelved: make(map[string]int),
		}
		set := func(_ Name, _, is *Queue) error {
			if is != nil {
				is.purgeAnytime = purgeAnytime
			}
			return nil
		}
		setShelved := func(_ queue.ID, _, is *Queue) error { return set(Name{}, nil, is) }
		return r, control.Kinds{
			queueTable.Into(&r.queues, set, r.index, r.order.put), deletedTable.Into(&r.deleted, r.order.putDeleted),
			tombstoneTable.Into(&r.buried), lastIDTable.Into(&r.lastID), secretTable.Into(&r.secret),
			idleSinceTable.Into(&r.idleSince),
			shelfTable.Into(&r.shelf, setShelved, r.indexShelf, control.InOrder[queue.ID](r.order.shelf)),
		}
	}
}

// index maintains the index of queues by id, and the number of queues.
func (r *records) index(n Name, old, is *Queue) error {
	if old != nil {
		delete(r.byID, old.ID)
		r.pausing -= min(1, len(old.PausedGroups))
		if r.counts[n.Account]--; r.counts[n.Account] == 0 {
			delete(r.counts, n.Account)
		}
	}
	if is != nil {
		r.byID[is.ID] = is
		r.pausing += min(1, len(is.PausedGroups))
		r.counts[n.Account]++
	}
	r.changed = append(r.changed, changed{old, is})
	return nil
}

// take returns the changes since its last call. The caller holds the lock of the records.
func (r *records) take() []changed {
	all := r.changed
	r.changed = nil
	return joined(all)
}

// joined merges two changes into one if a queue has left one table and joined the other in the same commit, in either
// order: it was deleted and put on the shelf, or restored from it.
func joined(all []changed) []changed {
	out := make([]changed, 0, len(all))
	half := make(map[queue.ID]int) // the place in out of a change that has one side
	for _, ch := range all {
		i, found := half[ch.id()]
		switch delete(half, ch.id()); {
		case found && out[i].joins(ch):
			out[i] = changed{cmp.Or(out[i].old, ch.old), cmp.Or(out[i].new, ch.new)}
			continue
		case ch.old == nil || ch.new == nil:
			half[ch.id()] = len(out)
		}
		out = append(out, ch)
	}
	return out
}

func (ch changed) id() queue.ID { return cmp.Or(ch.old, ch.new).ID }

// joins reports whether two changes of a queue that have one side each are a move from one table to the other.
func (ch changed) joins(other changed) bool {
	if (ch.old == nil) == (other.old == nil) {
		return false
	}
	return cmp.Or(ch.old, ch.new).Deleted.IsZero() != cmp.Or(other.old, other.new).Deleted.IsZero()
}

// reader is the set of the tables. It also notifies the watchers.
type reader struct{ c *Catalog }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	defer r.c.told()
	old := r.c.records.RLock()
	r.c.records.RUnlock()
	if err := r.c.records.Load(all); err != nil {
		return err
	}
	now := r.c.records.Lock()
	now.take() // all of them
	r.c.records.Unlock()
	if len(control.Only(now.secret)) == 0 {
		return ErrUninitialised
	}
	r.tell(differences(old, now)) // which nothing changes meanwhile but this reader
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	defer r.c.told()
	err := r.c.records.Apply(changes)
	all := r.c.records.Lock().take()
	r.c.records.Unlock()
	r.tell(all)
	return err
}

// showed marks new records, before any caller can see them, as not yet known to the watchers.
func (c *Catalog) showed(_, now *records) {
	if len(now.changed) > 0 && c.untold.Load() == nil {
		untold := make(chan struct{})
		c.untold.Store(&untold)
	}
}

// told marks everything in the catalog as known to the watchers.
func (c *Catalog) told() {
	if untold := c.untold.Swap(nil); untold != nil {
		close(*untold)
	}
}

// tell notifies the watchers. It holds no lock, because they may read the catalog.
func (r reader) tell(all []changed) {
	r.c.watching.Lock()
	watchers := r.c.watchers
	r.c.watching.Unlock()
	for _, ch := range all {
		for _, f := range watchers {
			f(ch.old, ch.new)
		}
	}
}

// differences returns the changes that turn old into new: deletions first, then the others in the order in which the
// queues were created. A queue that is missing from new is deleted only if new has its tombstone, or no tombstones at
// all: new could be older than the queue.
func differences(old, new *records) []changed {
	var all []changed
	for id, q := range old.known() {
		if new.find(id) == nil && (new.hasBuried(id) || !new.hasTombstones()) {
			all = append(all, changed{q, nil})
		}
	}
	gone := len(all)
	for id, q := range new.known() {
		if was := old.find(id); was == nil || !bytes.Equal(control.Encode(was), control.Encode(q)) {
			all = append(all, changed{was, q})
		}
	}
	slices.SortFunc(all[gone:], func(a, b changed) int { return cmp.Compare(a.new.ID, b.new.ID) })
	return all
}
