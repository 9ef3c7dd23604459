package catalog

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// RecreateInterval is how long a name stays taken after its queue was deleted.
const RecreateInterval = 60 * time.Second

// The errors with which a change of the catalog is refused.
var (
	ErrExists          = errors.New("a queue of that name exists")
	ErrNotFound        = errors.New("no such queue")
	ErrDeletedRecently = errors.New("a queue of that name was deleted less than 60 seconds ago")
)

// ErrUninitialised says that there is no catalog in the store; see Initialise.
var ErrUninitialised = errors.New("the catalog has not been initialised")

// Options are what a catalog is made of.
type Options struct {
	Control *control.Control
	// Place gives a queue that is made or changed its shards: it sets Shards and
	// Sends of q. old is the record before the change, nil of a new queue. A nil
	// Place puts all queues on the first.
	Place func(q, old *Queue)
	// Formats are of the records that say since when it is watched which queues are used, and of tombstones. Deletions
	// write no tombstones until all programs can read them.
	Formats control.Formats
	// NoCoolDowns lets the name of a deleted queue be used again, and a queue be purged
	// again, at once. It is for tests.
	NoCoolDowns bool
}

// Catalog is the set of records. Its methods may be called from any goroutine.
type Catalog struct {
	control     *control.Control
	records     *control.Set[records]
	tombstones  control.Gate
	place       func(q, old *Queue)
	noCoolDowns bool

	watching sync.Mutex // of what follows
	watchers []func(old, new *Queue)

	// untold is closed when the watchers have learnt of what the catalog shows. It is nil if they know all of it.
	untold atomic.Pointer[chan struct{}]
}

const secretSize = 32

// Initialise makes what every catalog has, if it is not there. It is a change of
// the control store, which the store's owner makes.
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

// Open reads the catalog from the control store and follows its changes. It has to
// be the last reader to be registered, because it refuses all records that no other
// reader has. If there is no catalog, the error is ErrUninitialised.
func Open(o Options) (*Catalog, error) {
	c := &Catalog{
		control: o.Control, tombstones: control.Gate{Formats: o.Formats}, place: o.Place, noCoolDowns: o.NoCoolDowns,
	}
	c.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Formats: o.Formats, New: recordsOf(o.NoCoolDowns), Changed: c.showed,
	})
	if c.place == nil {
		c.place = func(_, _ *Queue) {}
	}
	if err := o.Control.Register("", reader{c}); err != nil {
		return nil, err
	}
	return c, nil
}

// Secret returns the random key under which the service authenticates receipt handles.
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

// List returns the queues of an account in a region for which keep is true,
// sorted by name.
func (c *Catalog) List(account, region string, keep func(*Queue) bool) []*Queue {
	r := c.records.RLock()
	out := control.Where(r.queues, func(q *Queue) bool {
		return q.Name.Account == account && q.Name.Region == region && keep(q)
	})
	c.records.RUnlock()
	slices.SortFunc(out, func(a, b *Queue) int { return cmp.Compare(a.Name.Queue, b.Name.Queue) })
	return out
}

// Regions returns the regions, sorted, in which an account has a queue of that name.
func (c *Catalog) Regions(account, name string) []string {
	r := c.records.RLock()
	defer c.records.RUnlock()
	var regions []string
	for space := range r.counts {
		if space.account == account && r.queues[Name{account, space.region, name}] != nil {
			regions = append(regions, space.region)
		}
	}
	slices.Sort(regions)
	return regions
}

// Count returns how many queues an account has, in all regions together.
func (c *Catalog) Count(account string) int {
	r := c.records.RLock()
	defer c.records.RUnlock()
	total := 0
	for space, n := range r.counts {
		if space.account == account {
			total += n
		}
	}
	return total
}

// Owned returns the names of an account's queues with their regions, in order.
func (c *Catalog) Owned(account string) []string {
	r := c.records.RLock()
	defer c.records.RUnlock()
	var out []string
	for n := range r.queues {
		if n.Account == account {
			out = append(out, n.Queue+" in "+n.Region)
		}
	}
	slices.Sort(out)
	return out
}

// All returns the queues of all accounts.
func (c *Catalog) All() []*Queue {
	return c.collect(func(n Name) bool { return !n.Internal() })
}

// collect returns the queues for whose names keep is true.
func (c *Catalog) collect(keep func(Name) bool) []*Queue {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return control.Where(r.queues, func(q *Queue) bool { return keep(q.Name) })
}

// OnChange has f called for every change of a queue from now on, in their order, also
// for those of other nodes. old is nil if the queue was created, new if it was deleted. The
// catalog shows the change already. The change ends when f has returned, so f must not
// make one itself.
func (c *Catalog) OnChange(f func(old, new *Queue)) {
	c.watching.Lock()
	defer c.watching.Unlock()
	c.watchers = append(slices.Clip(c.watchers), f)
}

// Watched waits until the watchers have learnt of every change that the catalog shows at the time of the call. A
// watcher must not call it.
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
