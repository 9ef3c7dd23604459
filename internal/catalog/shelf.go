package catalog

import (
	"cmp"
	"context"
	"iter"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
)

// UndoInterval is how long the deletion of a queue can be undone.
const UndoInterval = queue.UndoInterval

// shelfTable has the deleted queues whose deletion can be undone, by id. They have no tombstones, and their shards keep
// their data; see queue.Config.Shelved. A queue leaves the table when it is restored, or gets its tombstone:
//
//	queue/NAME ── Delete ──► shelf/ID ── Bury ──► tombstones/BLOCK
//	    ▲                        │
//	    └─────── Undelete ───────┘
//
// Each step is one commit, so a queue is in one place at any time.
var shelfTable = control.Table[queue.ID, Queue]{
	Prefix: "shelf/", Key: control.Key[queue.ID]{Text: textOfID, Parse: parseID}, Format: formats.Shelved,
}

func textOfID(id queue.ID) string { return textOf(uint64(id)) }

func parseID(text string) (queue.ID, error) {
	id, err := strconv.ParseUint(text, 10, 64)
	return queue.ID(id), err
}

const (
	// shelvedMost limits the deleted queues of an account on the shelf. Beyond it, the queues that were deleted first
	// are removed.
	shelvedMost = 1000
	// buryAtOnce limits the queues that one change buries, because the size of a commit is limited.
	buryAtOnce = 100
)

// indexShelf counts the queues on the shelf.
func (r *records) indexShelf(_ queue.ID, old, is *Queue) error {
	if is != nil {
		r.shelved[is.Name.Account]++
	}
	if old != nil {
		if r.shelved[old.Name.Account]--; r.shelved[old.Name.Account] == 0 {
			delete(r.shelved, old.Name.Account)
		}
	}
	r.changed = append(r.changed, changed{old, is})
	return nil
}

// find returns the record of a queue, even if it is on the shelf, or nil.
func (r *records) find(id queue.ID) *Queue { return cmp.Or(r.byID[id], r.shelf[id]) }

// known yields all queues that find returns.
func (r *records) known() iter.Seq2[queue.ID, *Queue] {
	return func(yield func(queue.ID, *Queue) bool) {
		for _, all := range []map[queue.ID]*Queue{r.byID, r.shelf} {
			for id, q := range all {
				if !yield(id, q) {
					return
				}
			}
		}
	}
}

// shelve keeps the record of a queue that the transaction deletes, and reports whether it does. The first record is not
// kept before all programs can read it: for others, the tombstone must come first. Later ones are kept even if a node
// is away whose program is not known.
func (tx *Tx) shelve(q *Queue, now time.Time) (bool, error) {
	c := tx.c
	if q.Name.Internal() || !c.keeps() || !c.shelves() && !c.gate.AllRead(formats.Shelved) {
		return false, nil
	}
	if begun, err := tx.buries(); !begun || err != nil {
		return false, err
	}
	if err := c.gate.Pass(formats.Shelved); err != nil {
		return false, err
	}
	if err := tx.makeRoom(q.Name.Account); err != nil {
		return false, err
	}
	gone := q.clone()
	gone.Deleted, gone.Undone, gone.Idle = now, time.Time{}, nil
	shelfTable.Put(tx.tx, q.ID, gone)
	return true, nil
}

// shelves reports whether a queue is on the shelf.
func (c *Catalog) shelves() bool {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return len(r.shelf) > 0
}

// buryNamesakes buries the deleted queues with the name of one that is not kept. Otherwise, an undo would restore one
// of them in its place.
func (tx *Tx) buryNamesakes(n Name) error {
	for _, q := range tx.c.shelvedOf(n.Account, math.MaxInt) {
		if q.Name == n {
			if err := tx.buryShelved(q); err != nil {
				return err
			}
		}
	}
	return nil
}

// makeRoom buries the queue of an account that was deleted first, if too many are on the shelf.
func (tx *Tx) makeRoom(account string) error {
	r := tx.c.records.RLock()
	full := r.shelved[account] >= shelvedMost
	tx.c.records.RUnlock()
	if !full {
		return nil
	}
	return tx.buryShelved(tx.c.shelvedOf(account, 1)[0])
}

func (tx *Tx) buryShelved(q *Queue) error {
	shelfTable.Delete(tx.tx, q.ID)
	return tx.buryOne(q.ID)
}

// Undelete restores the most recently deleted queue with that name, with its messages, and returns its record. It
// returns ErrExists if another queue has the name now, and ErrNotShelved if no queue with that name was deleted in the
// last UndoInterval or the queue was not kept. A repetition changes nothing.
func (tx *Tx) Undelete(n Name, now time.Time) (*Queue, error) {
	c := tx.c
	gone := c.Undeletable(n, now)
	switch {
	case gone != nil && gone.Deleted.IsZero():
		return gone, nil
	case gone == nil:
		return nil, ErrNotShelved
	case c.Find(n) != nil:
		return nil, ErrExists
	}
	q := gone.clone()
	q.Deleted, q.Undone = time.Time{}, gone.Deleted
	shelfTable.Delete(tx.tx, q.ID)
	queueTable.Put(tx.tx, n, q)
	deletedTable.Delete(tx.tx, n)
	return q, nil
}

// Undelete restores a deleted queue, which Undeletable has returned, if admit returns nil; see Tx.Undelete.
func (c *Catalog) Undelete(ctx context.Context, gone *Queue, now time.Time, admit func() error) (*Queue, error) {
	return control.Decide(ctx, c.Change, func(tx *Tx) (*Queue, error) {
		if is := c.Undeletable(gone.Name, now); is == nil || is.ID != gone.ID {
			return nil, ErrNotShelved
		} else if is.Deleted.IsZero() {
			return is, nil
		}
		if err := admit(); err != nil {
			return nil, err
		}
		return tx.Undelete(gone.Name, now)
	})
}

// Kept returns the queues of all accounts, and the deleted ones that can be restored.
func (c *Catalog) Kept() (all []*Queue) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for _, q := range r.known() {
		if !q.Name.Internal() {
			all = append(all, q)
		}
	}
	return all
}

// Undeletable returns the record of the queue that Undelete would restore if its name were free, or nil. If Undelete
// has restored the queue recently, that is its record, without a time of deletion.
func (c *Catalog) Undeletable(n Name, now time.Time) *Queue {
	now = c.corrected(now)
	if q := c.Find(n); q != nil && now.Before(q.Undone.Add(UndoInterval)) {
		return q
	}
	for _, q := range slices.Backward(c.shelvedOf(n.Account, math.MaxInt)) {
		if q.Name == n && !q.undoEnds(now) {
			return q
		}
	}
	return nil
}

func (q *Queue) undoEnds(now time.Time) bool { return !now.Before(q.Deleted.Add(UndoInterval)) }

// shelved returns the deleted queues for which keep returns true, in the order of their deletion.
func (c *Catalog) shelved(keep func(*Queue) bool) []*Queue {
	r := c.records.RLock()
	out := control.Where(r.shelf, keep)
	c.records.RUnlock()
	slices.SortFunc(out, func(a, b *Queue) int {
		return cmp.Or(a.Deleted.Compare(b.Deleted), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// shelvedOf returns the first deleted queues of an account, at most most, in the order of their deletion.
func (c *Catalog) shelvedOf(account string, most int) (out []*Queue) {
	r := c.records.RLock()
	defer c.records.RUnlock()
	for q := range r.order.shelf.From(&Queue{Name: Name{Account: account}}) {
		if len(out) == most || q.Name.Account != account {
			break
		}
		out = append(out, q)
	}
	return out
}

// ToBury returns some of the deleted queues whose deletion can no longer be undone, or all of them if all is true.
func (c *Catalog) ToBury(now time.Time, all bool) []*Queue {
	now = c.corrected(now)
	out := c.shelved(func(q *Queue) bool { return all || q.undoEnds(now) })
	return out[:min(len(out), buryAtOnce)]
}

// BuryOwned ends the undo of the deletion of an account's queues.
func (c *Catalog) BuryOwned(ctx context.Context, account string) error {
	for {
		due := c.shelvedOf(account, buryAtOnce)
		if len(due) == 0 {
			return nil
		}
		if err := c.Change(ctx, func(tx *Tx) error { return tx.Bury(due) }); err != nil {
			return err
		}
	}
}

// Bury writes the tombstones of deleted queues, so that their shards remove their data. It omits queues that were
// restored meanwhile.
func (tx *Tx) Bury(queues []*Queue) error {
	for _, q := range queues {
		if is := tx.c.shelvedAs(q.ID); is == nil || !is.Deleted.Equal(q.Deleted) {
			continue
		}
		if err := tx.buryShelved(q); err != nil {
			return err
		}
	}
	return nil
}

// shelvedAs returns the record of a deleted queue that can be restored, or nil.
func (c *Catalog) shelvedAs(id queue.ID) *Queue {
	r := c.records.RLock()
	defer c.records.RUnlock()
	return r.shelf[id]
}
