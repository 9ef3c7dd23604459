package catalog

import (
	"cmp"
	"crypto/rand"
	"errors"
	"slices"
	"sync"
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
	// RequireIdle is called before a record is used that says that it is watched which queues are used, and
	// RequireTombstones before tombstones are. They write down that the data directory needs a program that can read
	// such records. Both may be nil.
	RequireIdle, RequireTombstones func() error
	// ReadTombstones returns an error as long as a program that may open the store cannot read tombstones. Until then
	// deletions write none. Nil means that all programs read them.
	ReadTombstones func() error
	// NoCoolDowns lets the name of a deleted queue be used again, and a queue be purged
	// again, at once. It is for tests.
	NoCoolDowns bool
}

// Catalog is the set of records. Its methods may be called from any goroutine.
type Catalog struct {
	control           *control.Control
	place             func(q, old *Queue)
	requireIdle       func() error
	requireTombstones func() error
	readTombstones    func() error
	noCoolDowns       bool

	mu sync.RWMutex
	records
	watchers []func(old, new *Queue)
}

// records are the contents of the store.
type records struct {
	secret  []byte
	queues  map[Name]*Queue
	byID    map[queue.ID]*Queue
	counts  map[namespace]int // how many queues there are; only where there are any
	deleted map[Name]time.Time
	buried  tombstones

	idleSince    time.Time
	purgeAnytime bool // of all queues
	lastID       queue.ID
}

const secretSize = 32

// Initialise makes what every catalog has, if it is not there. It is a change of
// the control store, which the store's owner makes.
func Initialise(tx *control.Tx) error {
	secret, err := tx.Get(keySecret)
	if err != nil || secret != nil {
		return err
	}
	secret = make([]byte, secretSize)
	rand.Read(secret)
	tx.Put(keySecret, secret)
	return nil
}

// Open reads the catalog from the control store and follows its changes. It has to
// be the last reader to be registered, because it refuses all records that no other
// reader has. If there is no catalog, the error is ErrUninitialised.
func Open(o Options) (*Catalog, error) {
	c := &Catalog{
		control: o.Control, place: o.Place, noCoolDowns: o.NoCoolDowns,
		requireIdle: o.RequireIdle, requireTombstones: o.RequireTombstones, readTombstones: o.ReadTombstones,
	}
	for _, f := range []*func() error{&c.requireIdle, &c.requireTombstones, &c.readTombstones} {
		if *f == nil {
			*f = func() error { return nil }
		}
	}
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
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.secret
}

// Find returns the record of a queue, or nil.
func (c *Catalog) Find(n Name) *Queue {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.queues[n]
}

// ByID returns the record of the queue with that id, or nil.
func (c *Catalog) ByID(id queue.ID) *Queue {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.byID[id]
}

// List returns the queues of an account in a region for which keep is true,
// sorted by name.
func (c *Catalog) List(account, region string, keep func(*Queue) bool) []*Queue {
	c.mu.RLock()
	var out []*Queue
	for n, q := range c.queues {
		if n.Account == account && n.Region == region && keep(q) {
			out = append(out, q)
		}
	}
	c.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Queue) int { return cmp.Compare(a.Name.Queue, b.Name.Queue) })
	return out
}

// Regions returns the regions, sorted, in which an account has a queue of that name.
func (c *Catalog) Regions(account, name string) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var regions []string
	for space := range c.counts {
		if space.account == account && c.queues[Name{account, space.region, name}] != nil {
			regions = append(regions, space.region)
		}
	}
	slices.Sort(regions)
	return regions
}

// Count returns how many queues an account has, in all regions together.
func (c *Catalog) Count(account string) int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	total := 0
	for space, n := range c.counts {
		if space.account == account {
			total += n
		}
	}
	return total
}

// Owned returns the names of an account's queues with their regions, in order.
func (c *Catalog) Owned(account string) []string {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []string
	for n := range c.queues {
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
	c.mu.RLock()
	defer c.mu.RUnlock()
	var out []*Queue
	for n, q := range c.queues {
		if keep(n) {
			out = append(out, q)
		}
	}
	return out
}

// OnChange has f called for every change of a queue from now on, in their order, also
// for those of other nodes. old is nil if the queue was created, new if it was deleted. The
// catalog shows the change already. The change ends when f has returned, so f must not
// make one itself.
func (c *Catalog) OnChange(f func(old, new *Queue)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watchers = append(slices.Clip(c.watchers), f)
}
