package trails

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trails/spool"
)

// Options configures Open.
type Options struct {
	Control *control.Control
	Vault   Vault        // encrypts the keys that sign digests
	Spool   *spool.Spool // of data events; nil means none
	Formats control.Formats
}

// Trails holds the trails of an installation. Its methods are safe for concurrent use.
type Trails struct {
	control *control.Control
	vault   Vault
	spool   *spool.Spool
	records *control.Set[records]

	logging atomic.Bool // some trail is on
	data    atomic.Bool // some trail that selects data events is on
}

// Open reads the trails from the control store and follows their changes.
func Open(o Options) (*Trails, error) {
	t := &Trails{control: o.Control, vault: o.Vault, spool: o.Spool}
	t.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: recordsOf(o.Vault), Needs: needs,
		Changed: t.noteLogging,
	})
	if err := t.records.Register(); err != nil {
		return nil, err
	}
	return t, nil
}

// needs returns the format of trails with insights, which not all programs know that know trails.
func needs(r *records) []int {
	for _, one := range r.trails {
		if len(one.Insights) > 0 {
			return []int{formats.Insights}
		}
	}
	return nil
}

// noteLogging records whether any trail is on, and whether one selects data events. The set's lock is held.
func (t *Trails) noteLogging(_, now *records) {
	logging, data := false, false
	for _, one := range now.trails {
		logging = logging || one.Logging
		data = data || one.Logging && one.Selectors.TakesData()
	}
	t.logging.Store(logging)
	t.data.Store(data)
}

// MayHaveInsights returns an error if trails must not have insights yet: not all programs know such trails.
func (t *Trails) MayHaveInsights() error { return t.records.MayNeed(formats.Insights) }

// Find returns the trail of that name, or nil.
func (t *Trails) Find(n Name) *Trail {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.trails[n]
}

// Of returns the trails of an account, ordered by name and region.
func (t *Trails) Of(account string) []*Trail {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return slices.SortedFunc(r.ofAccount(account), byName)
}

// byName orders trails by name, region and account.
func byName(a, b *Trail) int {
	return strings.Compare(a.Name.Name+"/"+a.Region+"/"+a.Account, b.Name.Name+"/"+b.Region+"/"+b.Account)
}

func (t *Trails) list(keep func(*Trail) bool) []*Trail {
	r := t.records.RLock()
	out := control.Where(r.trails, keep)
	t.records.RUnlock()
	slices.SortFunc(out, byName)
	return out
}

// Status returns the state of the deliveries of a trail.
func (t *Trails) Status(one *Trail) Status {
	r := t.records.RLock()
	defer t.records.RUnlock()
	if s := r.statuses[one.ID]; s != nil {
		return *s
	}
	return Status{}
}

// Any implements trail.Selector.
func (t *Trails) Any() bool { return t.logging.Load() }

// Select implements trail.Selector.
func (t *Trails) Select(e *trail.Event) (ids []uuid.UUID) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	for one := range r.ofAccount(e.RecipientAccountID) {
		if one.gets(e) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// WantsData implements trail.DataSink, with AddData.
func (t *Trails) WantsData() bool { return t.data.Load() }

// AddData adds a data event to the spool for the trails that select it.
func (t *Trails) AddData(e *trail.Event) {
	ids := t.Select(e)
	if len(ids) == 0 || t.spool == nil {
		return
	}
	text := control.Encode(e)
	for _, id := range ids {
		t.spool.Add(id, text)
	}
}

// withID returns the trail of an id, or nil.
func (t *Trails) withID(id uuid.UUID) *Trail {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.byID[id]
}

// Tx is a change in progress. The answers of Trails are unchanged until the change is durable.
type Tx struct{ tx *control.Tx }

// Change makes a change of several records, all or none. f decides about it; see control.Control.Change. Change first
// checks that all programs that read the records can do so, and returns the error of Options.Formats if not.
func (t *Trails) Change(ctx context.Context, f func(*Tx) error) error {
	return t.records.Change(ctx, func(tx *control.Tx) error { return f(&Tx{tx}) })
}

// Create adds a trail, which is off.
func (tx *Tx) Create(t *Trail, now time.Time) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	t.ID, t.Created = id, stamp(now)
	tx.Put(t)
	return nil
}

// Put replaces a trail.
func (tx *Tx) Put(t *Trail) { trailTable.Put(tx.tx, t.Name, t) }

// Delete removes a trail with everything that waits for its bucket.
func (tx *Tx) Delete(t *Trail) {
	trailTable.Delete(tx.tx, t.Name)
	statusTable.Delete(tx.tx, t.ID)
	trail.Forget(tx.tx, t.ID)
	tx.tx.DeleteRange(fileKey(t.ID, 0), fileEnd(t.ID))
}

// setStatus replaces the status of a trail, if the trail still exists: it may have been deleted during a transfer.
func (t *Trails) setStatus(tx *Tx, one *Trail, s *Status) bool {
	if now := t.Find(one.Name); now == nil || now.ID != one.ID {
		return false
	}
	statusTable.Put(tx.tx, one.ID, s)
	return true
}

// stamp rounds a time to its stored form, in milliseconds.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
