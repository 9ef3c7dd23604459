package insightrule

import (
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
)

// Prefix begins the keys of all records of this package.
const Prefix = "insightrule/"

// Quota limits the rules, in a region as on AWS.
var Quota = series.Quota{Of: "rules", Region: 100, Account: 4 * 100}

var table = control.Table[Key, Rule]{
	Prefix: Prefix, Key: control.Key[Key]{Text: Key.text, Parse: parseKey}, Format: formats.Detectors,
}

// Rules is the set of all rules. Its methods are safe for concurrent use.
type Rules struct{ rows control.Rows[Key, Rule] }

// Open reads the records from the control store and follows their changes.
func Open(c *control.Control, f control.Formats) (*Rules, error) {
	rows, err := control.OpenRows(&table, Key.compare, c, f)
	return &Rules{rows}, err
}

// Get returns a rule, or nil if there is none of that key.
func (r *Rules) Get(k Key) *Rule { return r.rows.Get(k) }

// In returns the rules in a region of an account, in order of their names.
func (r *Rules) In(s series.Scope) []*Rule {
	return r.rows.Range(Key{Scope: s}, func(k Key) bool { return k.Scope == s })
}

// of returns the rules of an account.
func (r *Rules) of(account string) []*Rule {
	return r.rows.Range(Key{Scope: series.Scope{Account: account}}, func(k Key) bool { return k.Account == account })
}

// Owned returns the names of an account's rules in all regions, sorted.
func (r *Rules) Owned(account string) (out []string) {
	for _, of := range r.of(account) {
		out = append(out, of.Name+" in "+of.Region)
	}
	slices.Sort(out)
	return out
}

// Put adds a rule, or replaces the existing one of that key, which keeps its tags.
func (r *Rules) Put(ctx context.Context, is *Rule) error {
	return r.rows.Change(ctx, func(tx *control.Tx) error {
		put := *is
		if was := r.Get(is.Key); was != nil {
			put.Tags = was.Tags
		} else if err := Quota.Allow(len(r.In(is.Scope)), len(r.of(is.Account))); err != nil {
			return err
		}
		table.Put(tx, is.Key, &put)
		return nil
	})
}

// Change replaces rules by what f returns for each of them, in one change, and deletes a rule for which f returns nil.
// It returns which rules do not exist.
func (r *Rules) Change(
	ctx context.Context, in series.Scope, names []string, f func(Rule) (*Rule, error),
) ([]string, error) {
	return control.Decide(ctx, r.rows.Change, func(tx *control.Tx) (missing []string, err error) {
		for _, name := range names {
			k := Key{in, name}
			was := r.Get(k)
			if was == nil {
				missing = append(missing, name)
				continue
			}
			is, err := f(*was)
			switch {
			case err != nil:
				return nil, err
			case is == nil:
				table.Delete(tx, k)
			default:
				table.Put(tx, k, is)
			}
		}
		return missing, nil
	})
}

// Check reads the records without changing them, and returns the problems found. An error means that the store could
// not be read.
func Check(s *store.Store) (problems []string, err error) { return control.CheckRows(&table, s) }
