package preferences

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of all records of this package.
const Prefix = "sms/"

// MaxRegions is in how many regions an account can have preferences. AWS has fewer; here any name can be a region's.
const MaxRegions = 100

// ErrTooManyRegions refuses preferences in a further region.
var ErrTooManyRegions = fmt.Errorf("an account can have preferences in at most %d regions", MaxRegions)

// Place is an account in a region.
type Place struct{ Account, Region string }

// Values are preferences by their names. Those that are not set are missing.
type Values map[string]string

var table = control.Table[Place, Values]{
	Prefix: Prefix, Key: control.Key[Place]{Text: Place.text, Parse: parsePlace}, Format: formats.Preferences,
}

func (p Place) compare(o Place) int {
	return cmp.Or(strings.Compare(p.Account, o.Account), strings.Compare(p.Region, o.Region))
}

func (p Place) text() string { return p.Account + "/" + p.Region }

func parsePlace(text string) (Place, error) {
	account, region, ok := strings.Cut(text, "/")
	if !ok || account == "" || region == "" {
		return Place{}, control.ErrUnknown
	}
	return Place{account, region}, nil
}

// Preferences is the set of records. Its methods are safe for concurrent use.
type Preferences struct{ rows control.Rows[Place, Values] }

// Open reads the records from the control store and follows their changes.
func Open(c *control.Control, f control.Formats) (*Preferences, error) {
	rows, err := control.OpenRows(&table, Place.compare, c, f)
	return &Preferences{rows}, err
}

// Of returns the preferences of a place, which the caller must not change.
func (p *Preferences) Of(place Place) Values {
	if v := p.rows.Get(place); v != nil {
		return *v
	}
	return nil
}

// regions returns in how many regions an account has preferences.
func (p *Preferences) regions(account string) int {
	return len(p.rows.Range(Place{Account: account}, func(at Place) bool { return at.Account == account }))
}

// Set sets preferences of a place, and removes those whose new value is empty. Others stay.
func (p *Preferences) Set(ctx context.Context, place Place, changed Values) error {
	return p.rows.Change(ctx, func(tx *control.Tx) error {
		was := p.Of(place)
		all := make(Values)
		maps.Copy(all, was)
		maps.Copy(all, changed)
		maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
		switch {
		case len(all) == 0:
			table.Delete(tx, place)
		case was == nil && p.regions(place.Account) >= MaxRegions:
			return ErrTooManyRegions
		default:
			table.Put(tx, place, &all)
		}
		return nil
	})
}

// Check reads the records without changing them, and returns the problems found. An error means that the store could
// not be read.
func Check(s *store.Store) (problems []string, err error) { return control.CheckRows(&table, s) }
