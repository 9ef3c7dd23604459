package detector

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of all records of this package.
const Prefix = "detector/"

// Quota limits the detectors.
var Quota = series.Quota{Of: "anomaly detectors", Region: 500, Account: 4 * 500}

// Space limits their bytes: the queries of one detector may take hundreds of KiB.
var Space = series.Space{Of: "anomaly detectors", Bytes: 8 << 20}

// The reasons why a detector is not put or deleted, besides its limits.
var (
	ErrNotFound = errors.New("there is no such anomaly detector")
	errOtherKey = errors.New("the record is of another key")
)

var table = control.Table[Key, Detector]{
	Prefix: Prefix, Key: control.Key[Key]{Text: Key.text, Parse: parseKey}, Format: formats.Detectors, Read: read,
}

// Detectors is the set of all detectors. Its methods are safe for concurrent use.
type Detectors struct{ rows control.Rows[Key, Detector] }

// Open reads the records from the control store and follows their changes.
func Open(c *control.Control, f control.Formats) (*Detectors, error) {
	rows, err := control.OpenRows(&table, Key.compare, c, f)
	return &Detectors{rows}, err
}

// Get returns a detector, or nil if there is none of that key.
func (d *Detectors) Get(k Key) *Detector { return d.rows.Get(k) }

// In returns the detectors in a region of an account, in their order.
func (d *Detectors) In(s series.Scope) []*Detector {
	out := d.rows.Range(Key{Scope: s}, func(k Key) bool { return k.Scope == s })
	slices.SortFunc(out, func(a, b *Detector) int { return strings.Compare(a.Order(), b.Order()) })
	return out
}

// of returns the detectors of an account.
func (d *Detectors) of(account string) []*Detector {
	return d.rows.Range(Key{Scope: series.Scope{Account: account}}, func(k Key) bool { return k.Account == account })
}

// Owned returns the ids of an account's detectors in all regions, sorted.
func (d *Detectors) Owned(account string) (out []string) {
	for _, of := range d.of(account) {
		out = append(out, of.ID()+" in "+of.Region)
	}
	slices.Sort(out)
	return out
}

// Put adds a detector, or replaces the configuration of the one with its subject.
func (d *Detectors) Put(ctx context.Context, is *Detector) error {
	return d.rows.Change(ctx, func(tx *control.Tx) error {
		put := *is
		if was := d.Get(is.Key()); was != nil {
			put.Created = was.Created
		} else if err := Quota.Allow(len(d.In(is.Scope)), len(d.of(is.Account))); err != nil {
			return err
		}
		if err := d.fits(&put); err != nil {
			return err
		}
		table.Put(tx, is.Key(), &put)
		return nil
	})
}

// fits returns an error if there is no room for a detector.
func (d *Detectors) fits(is *Detector) error {
	more, used := len(control.Encode(is)), 0
	for _, of := range d.of(is.Account) {
		if used += of.size; of.Key() == is.Key() {
			more -= of.size
		}
	}
	return Space.Allow(used, more)
}

// Delete removes a detector.
func (d *Detectors) Delete(ctx context.Context, k Key) error {
	return d.rows.Change(ctx, func(tx *control.Tx) error {
		if d.Get(k) == nil {
			return ErrNotFound
		}
		table.Delete(tx, k)
		return nil
	})
}

// Check reads the records without changing them, and returns the problems found. An error means that the store could
// not be read.
func Check(s *store.Store) (problems []string, err error) { return control.CheckRows(&table, s) }
