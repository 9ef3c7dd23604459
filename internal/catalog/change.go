package catalog

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// Keys of the store. Each prefix is followed by the JSON of a Name.
const (
	keyQueue   = "queue/"
	keyDeleted = "deleted/"
	keyLastID  = "last-id"
	keySecret  = "receipt-secret"
)

// Tx is a change that is being made. It can make one queue, or change or delete
// any.
type Tx struct {
	c  *Catalog
	tx *control.Tx
}

// Change makes a change; see control.Control.Change.
func (c *Catalog) Change(ctx context.Context, f func(*Tx) error) error {
	return c.control.Change(ctx, func(tx *control.Tx) error { return f(c.In(tx)) })
}

// In returns the changes of the catalog that are part of a change of the control store.
func (c *Catalog) In(tx *control.Tx) *Tx { return &Tx{c, tx} }

// Create adds a queue and returns its record. If there is one of that name
// already, it returns that one's record and ErrExists.
func (tx *Tx) Create(n Name, a Attributes, tags map[string]string, now time.Time) (*Queue, error) {
	c := tx.c
	c.mu.RLock()
	old := c.queues[n]
	at, gone := c.deleted[n]
	id := c.lastID + 1
	c.mu.RUnlock()
	if old != nil {
		return old, ErrExists
	}
	if gone && !c.noCoolDowns && now.Before(at.Add(RecreateInterval)) {
		return nil, ErrDeletedRecently
	}
	q := &Queue{Name: n, ID: id, Created: now, Modified: now, Attributes: a, Tags: tags}
	c.place(q, nil)
	tx.tx.Put(keyLastID, encode(q.ID))
	tx.tx.Put(nameKey(keyQueue, n), encode(q))
	tx.tx.Delete(nameKey(keyDeleted, n))
	return q, nil
}

// Update changes the record of the queue with that id. change gets a copy; if
// it returns an error, nothing is changed and Update returns that error. A
// queue that is gone, or of which the name now belongs to another, gives
// ErrNotFound.
func (tx *Tx) Update(n Name, id queue.ID, change func(*Queue) error) (*Queue, error) {
	old := tx.c.Find(n)
	if old == nil || old.ID != id {
		return nil, ErrNotFound
	}
	q := old.clone()
	if err := change(q); err != nil {
		return nil, err
	}
	tx.c.place(q, old)
	tx.tx.Put(nameKey(keyQueue, n), encode(q))
	return q, nil
}

// forgetAtOnce bounds how many names of deleted queues one deletion forgets: a commit has its bounds.
const forgetAtOnce = 1000

// Delete removes the record of the queue with that id, and writes its tombstone. The name of an internal queue is
// never used again, so the catalog does not keep it.
func (tx *Tx) Delete(n Name, id queue.ID, now time.Time) error {
	c := tx.c
	if q := c.Find(n); q == nil || q.ID != id {
		return ErrNotFound
	}
	tx.tx.Delete(nameKey(keyQueue, n))
	if err := tx.bury(id); err != nil {
		return err
	}
	if n.Internal() {
		return nil
	}
	c.mu.RLock()
	defer c.mu.RUnlock()
	forgotten := 0
	for old, at := range c.deleted {
		if !now.Before(at.Add(RecreateInterval)) && forgotten < forgetAtOnce {
			tx.tx.Delete(nameKey(keyDeleted, old))
			forgotten++
		}
	}
	tx.tx.Put(nameKey(keyDeleted, n), encode(now))
	return nil
}

func nameKey(prefix string, n Name) string { return prefix + string(encode(n)) }

// encode is for values of this package, all of which have a JSON form.
func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
