package catalog

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// RecreateInterval is how long a name stays taken after its queue was deleted.
const RecreateInterval = 60 * time.Second

// What a change of the catalog may be refused with.
var (
	ErrExists          = errors.New("a queue of that name exists")
	ErrNotFound        = errors.New("no such queue")
	ErrDeletedRecently = errors.New("a queue of that name was deleted less than 60 seconds ago")
)

// Catalog is the set of records. Its methods may be called from any goroutine.
type Catalog struct {
	store  *store.Store
	secret []byte

	changing sync.Mutex // held over a change, commit included

	mu      sync.RWMutex
	queues  map[Name]*Queue
	deleted map[Name]time.Time
	lastID  queue.ID
}

// Keys of the store. What follows a prefix is the JSON of a Name. Those that begin
// with keyDirectory are not the catalog's: it shares the store with who there is.
const (
	keyQueue   = "queue/"
	keyDeleted = "deleted/"
	keyLastID  = "last-id"
	keySecret  = "receipt-secret"

	keyDirectory = "directory/"
)

const secretSize = 32

// Open reads the catalog from s, or begins one.
func Open(s *store.Store) (*Catalog, error) {
	c := &Catalog{store: s, queues: make(map[Name]*Queue), deleted: make(map[Name]time.Time)}
	var bad error
	err := s.Scan([]byte{0}, []byte{0xff}, func(k, v []byte) bool {
		bad = c.load(string(k), v)
		return bad == nil
	})
	if err := errors.Join(err, bad); err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	if c.secret == nil {
		c.secret = make([]byte, secretSize)
		rand.Read(c.secret)
		err := c.commit(func(tx *store.Txn) { tx.Set([]byte(keySecret), c.secret) })
		if err != nil {
			return nil, fmt.Errorf("open catalog: %w", err)
		}
	}
	return c, nil
}

func (c *Catalog) load(k string, v []byte) error {
	switch {
	case strings.HasPrefix(k, keyDirectory):
	case k == keySecret:
		c.secret = slices.Clone(v)
	case k == keyLastID:
		return json.Unmarshal(v, &c.lastID)
	case strings.HasPrefix(k, keyQueue):
		q := new(Queue)
		if err := json.Unmarshal(v, q); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		c.queues[q.Name] = q
	case strings.HasPrefix(k, keyDeleted):
		var n Name
		var at time.Time
		if err := errors.Join(json.Unmarshal([]byte(k[len(keyDeleted):]), &n), json.Unmarshal(v, &at)); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		c.deleted[n] = at
	default:
		return fmt.Errorf("unknown key %q, written by a newer program", k)
	}
	return nil
}

// Secret returns the random key under which this service authenticates what it
// hands out and gets back.
func (c *Catalog) Secret() []byte { return c.secret }

// Find returns the record of a queue, or nil.
func (c *Catalog) Find(n Name) *Queue {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.queues[n]
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

// All returns all queues.
func (c *Catalog) All() []*Queue {
	c.mu.RLock()
	defer c.mu.RUnlock()
	out := make([]*Queue, 0, len(c.queues))
	for _, q := range c.queues {
		out = append(out, q)
	}
	return out
}

// Create adds a queue and returns its record. If there is one of that name
// already, it returns that one's record and ErrExists.
func (c *Catalog) Create(n Name, a Attributes, tags map[string]string, now time.Time) (*Queue, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	if q := c.Find(n); q != nil {
		return q, ErrExists
	}
	c.mu.RLock()
	at, gone := c.deleted[n]
	c.mu.RUnlock()
	if gone && now.Before(at.Add(RecreateInterval)) {
		return nil, ErrDeletedRecently
	}
	q := &Queue{Name: n, ID: c.lastID + 1, Created: now, Modified: now, Attributes: a, Tags: tags}
	err := c.commit(func(tx *store.Txn) {
		tx.Set([]byte(keyLastID), encode(q.ID))
		tx.Set(nameKey(keyQueue, n), encode(q))
		tx.Delete(nameKey(keyDeleted, n))
	})
	if err != nil {
		return nil, fmt.Errorf("create queue: %w", err)
	}
	c.mu.Lock()
	c.lastID = q.ID
	c.queues[n] = q
	delete(c.deleted, n)
	c.mu.Unlock()
	return q, nil
}

// Update changes the record of the queue with that id. change gets a copy; if
// it returns an error, nothing is changed and Update returns that error. A
// queue that is gone, or of which the name now belongs to another, gives
// ErrNotFound.
func (c *Catalog) Update(n Name, id queue.ID, change func(*Queue) error) (*Queue, error) {
	c.changing.Lock()
	defer c.changing.Unlock()
	q := c.Find(n)
	if q == nil || q.ID != id {
		return nil, ErrNotFound
	}
	q = q.clone()
	if err := change(q); err != nil {
		return nil, err
	}
	if err := c.commit(func(tx *store.Txn) { tx.Set(nameKey(keyQueue, n), encode(q)) }); err != nil {
		return nil, fmt.Errorf("update queue: %w", err)
	}
	c.mu.Lock()
	c.queues[n] = q
	c.mu.Unlock()
	return q, nil
}

// Delete removes the record of the queue with that id.
func (c *Catalog) Delete(n Name, id queue.ID, now time.Time) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	if q := c.Find(n); q == nil || q.ID != id {
		return ErrNotFound
	}
	var old []Name
	c.mu.RLock()
	for n, at := range c.deleted {
		if !now.Before(at.Add(RecreateInterval)) {
			old = append(old, n)
		}
	}
	c.mu.RUnlock()
	err := c.commit(func(tx *store.Txn) {
		tx.Delete(nameKey(keyQueue, n))
		for _, o := range old {
			tx.Delete(nameKey(keyDeleted, o))
		}
		tx.Set(nameKey(keyDeleted, n), encode(now))
	})
	if err != nil {
		return fmt.Errorf("delete queue: %w", err)
	}
	c.mu.Lock()
	delete(c.queues, n)
	for _, o := range old {
		delete(c.deleted, o)
	}
	c.deleted[n] = now
	c.mu.Unlock()
	return nil
}

func (c *Catalog) commit(change func(*store.Txn)) error {
	tx := c.store.Begin()
	defer tx.Release()
	change(tx)
	return c.store.Commit(tx)
}

func nameKey(prefix string, n Name) []byte { return append([]byte(prefix), encode(n)...) }

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
