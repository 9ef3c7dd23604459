package encryption

import (
	"context"
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of this package's records in the control store.
const Prefix = "encryption/"

var usedTable = control.Table[string, use]{Prefix: Prefix + "used/", Key: control.Text, Format: formats.Encrypted}

// use is the record of a key of the ring that may encrypt messages, by its id.
type use struct{}

// Used holds the ids of the keys that may encrypt messages in an installation. It has no keys.
type Used struct{ records *control.Set[records] }

type records struct{ used map[string]*use }

func newRecords() (*records, control.Kinds) {
	r := new(records)
	return r, control.Kinds{usedTable.Into(&r.used)}
}

// OpenUsed reads the records from the control store and follows their changes.
func OpenUsed(c *control.Control, f control.Formats) (*Used, error) {
	u := &Used{control.NewSet(control.SetOptions[records]{Control: c, Prefix: Prefix, Formats: f, New: newRecords})}
	return u, u.records.Register()
}

// IDs returns the ids of the keys, sorted.
func (u *Used) IDs() []string {
	r := u.records.RLock()
	defer u.records.RUnlock()
	return slices.Sorted(maps.Keys(r.used))
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

// Check reads the records of a store, for the doctor.
func Check(s *store.Store) (problems []string, err error) {
	_, err = control.Check(s, Prefix, newRecords, func(_ string, bad error) { problems = append(problems, bad.Error()) })
	return problems, err
}
