package muterule

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/series"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// Prefix begins the keys of all records of this package.
const Prefix = "muterule/"

// MaxAlarms is the maximum number of alarms of a rule.
const MaxAlarms = 100

// Quota limits the number of rules, and Space their bytes.
var (
	Quota = series.Quota{Of: "alarm mute rules", Region: 200, Account: 4 * 200}
	Space = series.Space{Of: "alarm mute rules", Bytes: 8 << 20}
)

var table = control.Table[Key, Rule]{
	Prefix: Prefix, Key: control.Key[Key]{Text: Key.text, Parse: parseKey}, Format: formats.Mutes, Read: readRule,
}

func readRule(_ Key, value []byte) (*Rule, error) {
	r := &Rule{size: len(value)}
	return r, json.Unmarshal(value, r)
}

// target is an alarm that rules name, whether or not it exists.
type target struct {
	series.Scope
	alarm string
}

// records holds the records of the store, and what is derived from them.
type records struct {
	rules   map[Key]*Rule
	order   *sortedlist.List[*Rule]
	targets map[target][]*Rule // the rules that name an alarm
	version uint64             // grows with each change
}

func newRecords() (*records, control.Kinds) {
	r := &records{order: sortedlist.New(byKey), targets: make(map[target][]*Rule)}
	return r, control.Kinds{table.Into(&r.rules, r.aim, control.InOrder[Key](r.order))}
}

func byKey(a, b *Rule) int {
	return cmp.Or(a.Scope.Compare(b.Scope), strings.Compare(a.Name, b.Name))
}

// ofAccount yields the rules of an account, ordered by region and name.
func (r *records) ofAccount(account string) iter.Seq[*Rule] {
	return r.order.Range(&Rule{Key: Key{Scope: series.Scope{Account: account}}}, func(of *Rule) bool {
		return of.Account == account
	})
}

// aim records which rules name an alarm. An invalid schedule makes a rule that mutes nothing; Check reports it.
func (r *records) aim(_ Key, old, is *Rule) error {
	r.version++
	if old != nil {
		for _, name := range old.Alarms {
			r.drop(target{old.Scope, name}, old)
		}
	}
	if is != nil {
		_ = is.read()
		for _, name := range is.Alarms {
			to := target{is.Scope, name}
			r.targets[to] = append(r.targets[to], is)
		}
	}
	return nil
}

func (r *records) drop(to target, rule *Rule) {
	left := slices.DeleteFunc(slices.Clone(r.targets[to]), func(one *Rule) bool { return one == rule })
	if r.targets[to] = left; len(left) == 0 {
		delete(r.targets, to)
	}
}

// Rules is the set of all rules. Its methods are safe for concurrent use.
type Rules struct{ set *control.Set[records] }

// Open reads the records from the control store and follows their changes.
func Open(c *control.Control, f control.Formats) (*Rules, error) {
	r := &Rules{control.NewSet(control.SetOptions[records]{Control: c, Prefix: Prefix, Formats: f, New: newRecords})}
	return r, r.set.Register()
}

// Get returns a rule, or nil if there is none of that key.
func (r *Rules) Get(k Key) *Rule {
	now := r.set.RLock()
	defer r.set.RUnlock()
	return now.rules[k]
}

// In returns the rules in a region of an account, in order of their names.
func (r *Rules) In(s series.Scope) (out []*Rule) {
	now := r.set.RLock()
	defer r.set.RUnlock()
	for of := range now.ofAccount(s.Account) {
		if of.Scope == s {
			out = append(out, of)
		}
	}
	return out
}

// countIn returns the number of rules in a region of an account, and in all its regions.
func (r *Rules) countIn(s series.Scope) (region, account int) {
	now := r.set.RLock()
	defer r.set.RUnlock()
	for of := range now.ofAccount(s.Account) {
		account++
		if of.Scope == s {
			region++
		}
	}
	return region, account
}

// Mutes reports whether a rule mutes an alarm at a time. It looks only at the rules that name the alarm.
func (r *Rules) Mutes(s series.Scope, alarm string, at time.Time) bool {
	now := r.set.RLock()
	defer r.set.RUnlock()
	return slices.ContainsFunc(now.targets[target{s, alarm}], func(one *Rule) bool { return one.Status(at) == Active })
}

// Version returns a number that changes with each rule.
func (r *Rules) Version() uint64 {
	now := r.set.RLock()
	defer r.set.RUnlock()
	return now.version
}

// Owned returns the names of an account's rules in all regions, sorted.
func (r *Rules) Owned(account string) (out []string) {
	now := r.set.RLock()
	defer r.set.RUnlock()
	for k := range now.rules {
		if k.Account == account {
			out = append(out, k.Name+" in "+k.Region)
		}
	}
	slices.Sort(out)
	return out
}

// Put adds a rule, or replaces the existing one of that key, which keeps its tags. check can refuse it. It is called
// when nothing else changes.
func (r *Rules) Put(ctx context.Context, is *Rule, check func() error) error {
	return r.set.Change(ctx, func(tx *control.Tx) error {
		if err := check(); err != nil {
			return err
		}
		put := *is
		if was := r.Get(is.Key); was != nil {
			put.Tags = was.Tags
		} else if err := Quota.Allow(r.countIn(is.Scope)); err != nil {
			return err
		}
		return r.put(tx, &put)
	})
}

// put stores a rule if there is room for it.
func (r *Rules) put(tx *control.Tx, is *Rule) error {
	more, used := len(control.Encode(is)), 0
	now := r.set.RLock()
	for of := range now.ofAccount(is.Account) {
		if used += of.size; of.Key == is.Key {
			more -= of.size
		}
	}
	r.set.RUnlock()
	if err := Space.Allow(used, more); err != nil {
		return err
	}
	table.Put(tx, is.Key, is)
	return nil
}

// Delete removes a rule, if it exists.
func (r *Rules) Delete(ctx context.Context, k Key) error {
	return r.set.Change(ctx, func(tx *control.Tx) error {
		table.Delete(tx, k)
		return nil
	})
}

// Retag replaces the tags of a rule, and reports whether it exists.
func (r *Rules) Retag(
	ctx context.Context, k Key, f func(Rule) (map[string]string, error),
) (found bool, _ error) {
	return control.Decide(ctx, r.set.Change, func(tx *control.Tx) (bool, error) {
		was := r.Get(k)
		if was == nil {
			return false, nil
		}
		tags, err := f(*was)
		if err != nil {
			return false, err
		}
		put := *was
		put.Tags = tags
		return true, r.put(tx, &put)
	})
}

// Check reads the records without changing them, and returns the problems found. An error means that the store could
// not be read.
func Check(s *store.Store) (problems []string, err error) {
	all, err := control.Check(s, Prefix, newRecords, func(_ string, bad error) {
		problems = append(problems, bad.Error())
	})
	if err != nil {
		return problems, err
	}
	for k, r := range all.rules {
		if bad := r.read(); bad != nil {
			problems = append(problems, fmt.Sprintf("the alarm mute rule %s: %v", k.ARN(), bad))
		}
	}
	return problems, nil
}
