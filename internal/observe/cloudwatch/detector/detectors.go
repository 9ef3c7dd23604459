package detector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of all records of this package.
const Prefix = "detector/"

// Max is the maximum number of detectors in a region of an account.
const Max = 500

// The reasons why a detector is not put or deleted.
var (
	ErrTooMany  = fmt.Errorf("a region of an account can have at most %d anomaly detectors", Max)
	ErrNotFound = errors.New("there is no such anomaly detector")

	errOtherKey = errors.New("the record is of another key")
)

var table = control.Table[Key, Detector]{
	Prefix: Prefix, Key: control.Key[Key]{Text: Key.text, Parse: parseKey}, Format: formats.Detectors, Read: read,
}

// records holds the records of the store.
type records struct{ all map[Key]*Detector }

func newRecords() (*records, control.Kinds) {
	r := new(records)
	return r, control.Kinds{table.Into(&r.all)}
}

// Detectors is the set of all detectors. Its methods are safe for concurrent use.
type Detectors struct{ records *control.Set[records] }

// Open reads the records from the control store and follows their changes.
func Open(c *control.Control, f control.Formats) (*Detectors, error) {
	d := &Detectors{control.NewSet(control.SetOptions[records]{Control: c, Prefix: Prefix, Formats: f, New: newRecords})}
	return d, d.records.Register()
}

// Get returns a detector, or nil if there is none of that key.
func (d *Detectors) Get(k Key) *Detector {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return r.all[k]
}

// In returns the detectors in a region of an account, in their order.
func (d *Detectors) In(s series.Scope) []*Detector {
	out := d.unordered(s)
	slices.SortFunc(out, func(a, b *Detector) int { return strings.Compare(a.Order(), b.Order()) })
	return out
}

func (d *Detectors) unordered(s series.Scope) []*Detector {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return control.Where(r.all, func(of *Detector) bool { return of.Scope == s })
}

// Put adds a detector, or replaces the configuration of the one with its subject.
func (d *Detectors) Put(ctx context.Context, is *Detector) error {
	return d.records.Change(ctx, func(tx *control.Tx) error {
		put := *is
		if was := d.Get(is.Key()); was != nil {
			put.Created = was.Created
		} else if len(d.unordered(is.Scope)) >= Max {
			return ErrTooMany
		}
		table.Put(tx, is.Key(), &put)
		return nil
	})
}

// Delete removes a detector.
func (d *Detectors) Delete(ctx context.Context, k Key) error {
	return d.records.Change(ctx, func(tx *control.Tx) error {
		if d.Get(k) == nil {
			return ErrNotFound
		}
		table.Delete(tx, k)
		return nil
	})
}

// Check reads the records without changing them, and returns the problems found. An error means that the store could
// not be read.
func Check(s *store.Store) (problems []string, err error) {
	_, err = control.Check(s, Prefix, newRecords, func(_ string, bad error) { problems = append(problems, bad.Error()) })
	return problems, err
}
