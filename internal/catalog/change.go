package catalog

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// Tx is a change in progress. It can create one queue, and change or delete any number of them.
type Tx struct {
	c  *Catalog
	tx *control.Tx
}

// Change makes a change; see control.Control.Change.
func (c *Catalog) Change(ctx context.Context, f func(*Tx) error) error {
	return c.control.Change(ctx, func(tx *control.Tx) error { return f(c.In(tx)) })
}

// In returns the catalog's part of a change of the control store.
func (c *Catalog) In(tx *control.Tx) *Tx { return &Tx{c, tx} }

// Create adds a queue and returns its record. If a queue of that name exists, it returns that record and ErrExists.
func (tx *Tx) Create(n Name, a Attributes, tags map[string]string, now time.Time) (*Queue, error) {
	c := tx.c
	r := c.records.RLock()
	old := r.queues[n]
	at := r.deleted[n]
	id := control.Only(r.lastID) + 1
	c.records.RUnlock()
	if old != nil {
		return old, ErrExists
	}
	now = c.corrected(now)
	if at != nil && !c.noCoolDowns && now.Before(at.Add(RecreateInterval)) {
		return nil, ErrDeletedRecently
	}
	q := &Queue{Name: n, ID: id, Created: now, Modified: now, Attributes: a, Tags: tags}
	c.place(q, nil)
	lastIDTable.Put(tx.tx, alone, &q.ID)
	queueTable.Put(tx.tx, n, q)
	deletedTable.Delete(tx.tx, n)
	return q, nil
}

// Update changes the record of the queue with that id. change gets a copy; if it returns an error, nothing is changed
// and Update returns that error. If the queue is gone, or its name now belongs to another queue, the error is
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
	queueTable.Put(tx.tx, n, q)
	return q, nil
}

// forgetAtOnce limits how many names of deleted queues one deletion forgets, because the size of a commit is limited.
const forgetAtOnce = 1000

// Delete removes the record of the queue with that id. It writes the queue's tombstone, unless the deletion can be
// undone. The name of an internal queue is never used again, so the catalog does not keep it.
func (tx *Tx) Delete(n Name, id queue.ID, now time.Time) error {
	c := tx.c
	q := c.Find(n)
	if q == nil || q.ID != id {
		return ErrNotFound
	}
	now = c.corrected(now)
	queueTable.Delete(tx.tx, n)
	shelved, err := tx.shelve(q, now)
	if err == nil && !shelved {
		if err = tx.bury(id); err == nil {
			err = tx.buryNamesakes(n)
		}
	}
	if err != nil {
		return err
	}
	if n.Internal() {
		return nil
	}
	for _, old := range c.forgettable(now) {
		deletedTable.Delete(tx.tx, old)
	}
	deletedTable.Put(tx.tx, n, &now)
	return nil
}

// forgettable returns names of deleted queues that are free again, at most forgetAtOnce.
func (c *Catalog) forgettable(now time.Time) (names []Name) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for d := range r.order.deleted.From(deletion{}) {
		if now.Before(d.at.Add(RecreateInterval)) || len(names) == forgetAtOnce {
			break
		}
		names = append(names, d.name)
	}
	return names
}
