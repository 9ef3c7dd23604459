package encryption

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of this package's records in the control store.
const Prefix = "encryption/"

var usedTable = control.Table[string, use]{Prefix: Prefix + "used/", Key: control.Text, Format: formats.Encrypted}

// use is the record of a key of the ring that may encrypt messages, or once could, by its id.
type use struct {
	Retired int64 `json:",omitempty"` // since when it may not, in Unix milliseconds; 0: it may
	Checked int64 `json:",omitempty"` // when records that need it were last looked for; 0: never
	Needed  int64 `json:",omitempty"` // how many there were
	Gone    bool  `json:",omitempty"` // there are none: rings may lack the key
}

// ErrUnknownKey reports that a key never encrypted messages in this installation.
var ErrUnknownKey = errors.New("no message was ever encrypted under this key")

// Retirement is the state of a key that no longer encrypts messages.
type Retirement struct {
	ID      string
	Since   time.Time
	Checked time.Time // when records that need it were last looked for; zero: never
	Needed  int64     // how many there were
	Gone    bool      // there are none: rings may lack the key
}

func (u *use) retirement(id string) Retirement {
	r := Retirement{ID: id, Since: time.UnixMilli(u.Retired), Needed: u.Needed, Gone: u.Gone}
	if u.Checked != 0 {
		r.Checked = time.UnixMilli(u.Checked)
	}
	return r
}

// Used holds the ids of the keys that may encrypt messages in an installation, or once could. It has no keys.
type Used struct {
	records *control.Set[records]

	mu      sync.Mutex
	changed chan struct{} // closed at the next change
}

type records struct{ used map[string]*use }

func newRecords() (*records, control.Kinds) {
	r := new(records)
	return r, control.Kinds{usedTable.Into(&r.used)}
}

// OpenUsed reads the records from the control store and follows their changes.
func OpenUsed(c *control.Control, f control.Formats) (*Used, error) {
	u := &Used{changed: make(chan struct{})}
	u.records = control.NewSet(control.SetOptions[records]{
		Control: c, Prefix: Prefix, Formats: f, New: newRecords, Changed: func(_, _ *records) { u.tell() },
	})
	return u, u.records.Register()
}

func (u *Used) tell() {
	u.mu.Lock()
	defer u.mu.Unlock()
	close(u.changed)
	u.changed = make(chan struct{})
}

// Watch returns a channel that is closed at the next change.
func (u *Used) Watch() <-chan struct{} {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.changed
}

// IDs returns the ids of the keys that messages may need, sorted.
func (u *Used) IDs() []string { return u.ids(func(k *use) bool { return !k.Gone }) }

// Encrypting returns the ids of the keys that may encrypt messages, sorted.
func (u *Used) Encrypting() []string { return u.ids(func(k *use) bool { return k.Retired == 0 }) }

// All returns the ids of all keys that could ever encrypt messages, sorted.
func (u *Used) All() []string { return u.ids(func(*use) bool { return true }) }

func (u *Used) ids(which func(*use) bool) (ids []string) {
	r := u.records.RLock()
	defer u.records.RUnlock()
	for _, id := range slices.Sorted(maps.Keys(r.used)) {
		if which(r.used[id]) {
			ids = append(ids, id)
		}
	}
	return ids
}

// Retired returns the keys that may no longer encrypt, sorted by their ids.
func (u *Used) Retired() (out []Retirement) {
	for _, id := range u.ids(func(k *use) bool { return k.Retired != 0 }) {
		r := u.records.RLock()
		out = append(out, r.used[id].retirement(id)) // records are never removed
		u.records.RUnlock()
	}
	return out
}

// Add records that messages may be encrypted with keys from now on. It returns an error while some program cannot read
// encrypted messages.
func (u *Used) Add(ctx context.Context, ids []string) error {
	return u.records.Change(ctx, func(tx *control.Tx) error {
		for _, id := range ids {
			usedTable.Put(tx, id, new(use))
		}
		return nil
	})
}

// Retire records that a key encrypts no messages from now on. A key that is retired already is not changed.
func (u *Used) Retire(ctx context.Context, id string, now time.Time) (Retirement, error) {
	return u.change(ctx, id, func(k *use) {
		if k.Retired == 0 {
			k.Retired = now.UnixMilli()
		}
	})
}

// Note records how many records need a retired key. Once there are none, there will never be any.
func (u *Used) Note(ctx context.Context, id string, needed int64, now time.Time) (Retirement, error) {
	return u.change(ctx, id, func(k *use) {
		if k.Retired != 0 && !k.Gone {
			k.Checked, k.Needed, k.Gone = now.UnixMilli(), needed, needed == 0
		}
	})
}

// change changes the record of a key.
func (u *Used) change(ctx context.Context, id string, f func(*use)) (Retirement, error) {
	return control.Decide(ctx, u.records.Change, func(tx *control.Tx) (r Retirement, err error) {
		all := u.records.RLock()
		was, ok := all.used[id]
		var is use
		if ok {
			is = *was
		}
		u.records.RUnlock()
		if !ok {
			return r, ErrUnknownKey
		}
		f(&is)
		usedTable.Put(tx, id, &is)
		return is.retirement(id), nil
	})
}

// Check reads the records of a store, for the doctor.
func Check(s *store.Store) (problems []string, err error) {
	_, err = control.Check(s, Prefix, newRecords, func(_ string, bad error) {
		problems = append(problems, bad.Error())
	})
	return problems, err
}
