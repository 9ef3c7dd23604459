package trails

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/trail"
	"github.com/sluicemq/sluice/internal/observe/trails/spool"
)

// Options are what Open needs.
type Options struct {
	Control *control.Control
	Vault   Vault        // encrypts the keys that sign digests
	Spool   *spool.Spool // of data events; nil means that there are none
	// Ready is called before the first record is written. Its error says that some program which reads the control store
	// does not know of trails. A nil Ready means that all do.
	Ready func() error
	// Require is called before the first record is written, and when one is first read here. It writes down that the data
	// directory needs a program that knows of trails. A nil Require means that nothing needs to be written down.
	Require func() error
}

// Trails holds the trails of an installation. Its methods may be called from any goroutine.
type Trails struct {
	control *control.Control
	vault   Vault
	spool   *spool.Spool
	ready   func() error
	require func() error

	required atomic.Bool // Require was called, and had no error

	mu sync.RWMutex
	records
	logging atomic.Bool // some trail is on
	data    atomic.Bool // some trail is on that gets data events
}

// records are what is in memory of what is in the store.
type records struct {
	trails   map[Name]*Trail
	statuses map[uuid.UUID]*Status
	keys     map[string]*Key // by record key
}

// Open reads the trails from the control store and follows their changes.
func Open(o Options) (*Trails, error) {
	t := &Trails{control: o.Control, vault: o.Vault, spool: o.Spool, ready: o.Ready, require: o.Require, records: newRecords()}
	if t.ready == nil {
		t.ready = func() error { return nil }
	}
	if t.require == nil {
		t.require = func() error { return nil }
	}
	if err := o.Control.Register(Prefix, reader{t}); err != nil {
		return nil, err
	}
	return t, nil
}

// Find returns the trail of that name, or nil.
func (t *Trails) Find(n Name) *Trail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.trails[n]
}

// Of returns the trails of an account, in order of their names and regions.
func (t *Trails) Of(account string) []*Trail {
	return t.list(func(one *Trail) bool { return one.Account == account })
}

func (t *Trails) list(keep func(*Trail) bool) (out []*Trail) {
	t.mu.RLock()
	for _, one := range t.trails {
		if keep(one) {
			out = append(out, one)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Trail) int {
		return strings.Compare(a.Name.Name+"/"+a.Region+"/"+a.Account, b.Name.Name+"/"+b.Region+"/"+b.Account)
	})
	return out
}

// Status returns what became of the deliveries of a trail.
func (t *Trails) Status(one *Trail) Status {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if s := t.statuses[one.ID]; s != nil {
		return *s
	}
	return Status{}
}

// Any implements trail.Selector.
func (t *Trails) Any() bool { return t.logging.Load() }

// Select implements trail.Selector.
func (t *Trails) Select(e *trail.Event) (ids []uuid.UUID) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, one := range t.trails {
		if one.gets(e) {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// WantsData implements trail.DataSink, with AddData.
func (t *Trails) WantsData() bool { return t.data.Load() }

// AddData puts a data event into the spool for the trails that get it.
func (t *Trails) AddData(e *trail.Event) {
	ids := t.Select(e)
	if len(ids) == 0 || t.spool == nil {
		return
	}
	text := encode(e)
	for _, id := range ids {
		t.spool.Add(id, text)
	}
}

// withID returns the trail of an id, or nil.
func (t *Trails) withID(id uuid.UUID) *Trail {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, one := range t.trails {
		if one.ID == id {
			return one
		}
	}
	return nil
}

// needFormat calls Options.Require unless that is done.
func (t *Trails) needFormat() error {
	if t.required.Load() {
		return nil
	}
	if err := t.require(); err != nil {
		return err
	}
	t.required.Store(true)
	return nil
}

// mayWrite returns an error if no record must be written yet.
func (t *Trails) mayWrite() error {
	t.mu.RLock()
	none := t.records.empty()
	t.mu.RUnlock()
	if none {
		if err := t.ready(); err != nil {
			return err
		}
	}
	return t.needFormat()
}

// Tx is a change that is being made. The answers of Trails are unchanged until the change is durable.
type Tx struct{ tx *control.Tx }

// Change makes a change of several records, all or none. f decides about it; see control.Control.Change. It first makes sure
// that all programs which read the records can, and returns the error of Options.Ready or Options.Require if not.
func (t *Trails) Change(ctx context.Context, f func(*Tx) error) error {
	return t.control.Change(ctx, func(tx *control.Tx) error {
		if err := t.mayWrite(); err != nil {
			return err
		}
		return f(&Tx{tx})
	})
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
func (tx *Tx) Put(t *Trail) { tx.tx.Put(trailKey(t.Name), encode(t)) }

// Delete removes a trail with all that waits for its bucket.
func (tx *Tx) Delete(t *Trail) {
	tx.tx.Delete(trailKey(t.Name))
	tx.tx.Delete(statusKey(t.ID))
	trail.Forget(tx.tx, t.ID)
	tx.tx.DeleteRange(fileKey(t.ID, 0), fileEnd(t.ID))
}

// setStatus replaces the status of a trail, if the trail is still there: it may have been deleted while a file was on its
// way.
func (t *Trails) setStatus(tx *Tx, one *Trail, s *Status) bool {
	if now := t.Find(one.Name); now == nil || now.ID != one.ID {
		return false
	}
	tx.tx.Put(statusKey(one.ID), encode(s))
	return true
}

// stamp is a time as it is kept: to the millisecond.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

var errUnknownKey = errors.New("unknown key, written by a newer program")
