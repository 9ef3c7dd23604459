package catalog

import (
	"context"
	"crypto/rand"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// RecreateInterval is how long a name stays reserved after its queue was deleted.
const RecreateInterval = 60 * time.Second

// The errors with which a change of the catalog is refused.
var (
	ErrExists          = errors.New("a queue of that name exists")
	ErrNotFound        = errors.New("no such queue")
	ErrDeletedRecently = errors.New("a queue of that name was deleted less than 60 seconds ago")
	ErrNotShelved      = errors.New("no deleted queue of that name can be brought back")
)

// ErrUninitialised means that the store has no catalog; see Initialise.
var ErrUninitialised = errors.New("the catalog has not been initialised")

// Options configure a catalog.
type Options struct {
	Control *control.Control
	// Place assigns shards to a queue that is created or changed: it sets Shards and Sends of q. old is the record
	// before the change, nil for a new queue. A nil Place puts all queues on the first shard.
	Place func(q, old *Queue)
	// Formats guards four kinds of records: tombstones, deleted queues whose deletion can be undone, queues with paused
	// groups, and the time since which the use of queues is watched. Deletions write no records of the first two kinds
	// until all programs can read them.
	Formats control.Formats
	// Keeps reports whether the deletion of a queue that is deleted now can be undone; nil means that it cannot.
	Keeps func() bool
	// Shift returns the correction of this machine's clock, which is added to the times of creations, deletions and
	// undos; nil means none. Without it, a node with a wrong clock would end the undo of deletions early, and a queue
	// that it creates anew could have lower sequence numbers than the deleted one.
	Shift func() time.Duration
	// NoCoolDowns lets the name of a deleted queue be reused, and a queue be purged again, at once. It is for tests.
	NoCoolDowns bool
}

// Catalog is the set of records. Its methods may be called from any goroutine.
type Catalog struct {
	control     *control.Control
	records     *control.Set[records]
	gate        control.Gate
	keeps       func() bool
	shift       func() time.Duration
	place       func(q, old *Queue)
	noCoolDowns bool

	watching sync.Mutex // of what follows
	watchers []func(old, new *Queue)

	// untold is closed when the watchers know everything that the catalog shows. It is nil if they already do.
	untold atomic.Pointer[chan struct{}]
}

const secretSize = 32

// Initialise creates the records that every catalog has, if they do not exist. It is a change of the control store,
// which the store's owner makes.
func Initialise(tx *control.Tx) error {
	secret, err := tx.Get(secretTable.KeyOf(alone))
	if err != nil || secret != nil {
		return err
	}
	secret = make([]byte, secretSize)
	rand.Read(secret)
	secretTable.Put(tx, alone, &secret)
	return nil
}

// Open reads the catalog from the control store and follows its changes. Register all other readers first: the catalog
// refuses records that belong to none of them. If there is no catalog, the error is ErrUninitialised.
func Open(o Options) (*Catalog, error) {
	c := &Catalog{
		control: o.Control, gate: control.Gate{Formats: o.Formats}, keeps: o.Keeps, shift: o.Shift,
		place: o.Place, noCoolDowns: o.NoCoolDowns,
	}
	c.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Formats: o.Formats, New: recordsOf(o.NoCoolDowns), Needs: needs,
		Changed: c.showed,
	})
	if c.keeps == nil {
		c.keeps = func() bool { return false }
	}
	if c.shift == nil {
		c.shift = func() time.Duration { return 0 }
	}
	if c.place == nil {
		c.place = func(_, _ *Queue) {}
	}
	if err := o.Control.Register("", reader{c}); err != nil {
		return nil, err
	}
	return c, nil
}

// corrected returns the time at which this machine's clock shows now.
func (c *Catalog) corrected(now time.Time) time.Time { return now.Add(c.shift()) }

// Secret returns the random key that authenticates receipt handles.
func (c *Catalog) Secret() []byte {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return control.Only(r.secret)
}

// Find returns the record of a queue, or nil.
func (c *Catalog) Find(n Name) *Queue {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return r.queues[n]
}

// ByID returns the record of the queue with that id, or nil.
func (c *Catalog) ByID(id queue.ID) *Queue {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return r.byID[id]
}

// List returns the queues of an account in a region for which keep returns true, sorted by name.
func (c *Catalog) List(account, region string, keep func(*Queue) bool) (out []*Queue) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for q := range r.order.from(Name{account, region, ""}) {
		if q.Name.namespace() != (namespace{account, region}) {
			break
		}
		if keep(q) {
			out = append(out, q)
		}
	}
	return out
}

// Page returns the first queues of an account in a region, sorted by name, whose names begin with a prefix and follow
// after. It returns at most most of them, and reads no others.
func (c *Catalog) Page(account, region, prefix, after string, most int) (out []*Queue) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for q := range r.order.from(Name{account, region, max(prefix, after)}) {
		n := q.Name
		if len(out) == most || n.namespace() != (namespace{account, region}) || !strings.HasPrefix(n.Queue, prefix) {
			break
		}
		if n.Queue != after {
			out = append(out, q)
		}
	}
	return out
}

// Sources returns the queues whose dead-letter queue q is, sorted by name.
func (c *Catalog) Sources(q *Queue) []*Queue { return c.SourcesPage(q, "", math.MaxInt) }

// SourcesPage returns the first of the queues that Sources returns whose names follow after, at most most.
func (c *Catalog) SourcesPage(q *Queue, after string, most int) (out []*Queue) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for of := range r.order.sourcesFrom(q, after) {
		if len(out) == most {
			break
		}
		if of.Name.Queue != after {
			out = append(out, of)
		}
	}
	return out
}

// Regions returns the regions, sorted, in which an account has a queue of that name.
func (c *Catalog) Regions(account, name string) (regions []string) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for region := range r.order.regions(account) {
		if r.queues[Name{account, region, name}] != nil {
			regions = append(regions, region)
		}
	}
	return regions
}

// Count returns the number of queues of an account in all regions.
func (c *Catalog) Count(account string) int {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return r.counts[account]
}

// Owned returns the names of an account's queues in all regions, sorted.
func (c *Catalog) Owned(account string) (out []string) {
	r := c.records.RLock()
	for q := range r.order.from(Name{Account: account}) {
		if q.Name.Account != account {
			break
		}
		out = append(out, q.Name.Queue+" in "+q.Name.Region)
	}
	c.records.RUnlock()
	slices.Sort(out)
	return out
}

// All returns the queues of all accounts.
func (c *Catalog) All() []*Queue {
	return c.collect(func(n Name) bool { return !n.Internal() })
}

// collect returns the queues for whose names keep returns true.
func (c *Catalog) collect(keep func(Name) bool) []*Queue {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return control.Where(r.queues, func(q *Queue) bool { return keep(q.Name) })
}

// OnChange calls f for every later change of a queue, in order, including changes made by other nodes. old is nil if
// the queue was created, new is nil if it was deleted, and has a time of deletion if it can be brought back. A node
// that missed both changes learns of such a queue with old as nil. The catalog already shows the change. The change
// ends when f has returned, so f must not make one itself.
func (c *Catalog) OnChange(f func(old, new *Queue)) {
	c.watching.Lock()
	defer c.watching.Unlock()
	c.watchers = append(slices.Clip(c.watchers), f)
}

// Watched waits until the watchers know every change that the catalog shows at the time of the call. A watcher must not
// call it.
func (c *Catalog) Watched(ctx context.Context) error {
	untold := c.untold.Load()
	if untold == nil {
		return nil
	}
	select {
	case <-*untold:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
