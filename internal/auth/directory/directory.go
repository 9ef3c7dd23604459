package directory

import (
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Directory is the set of records. Its methods are safe for concurrent use.
type Directory struct {
	control  *control.Control
	vault    *identity.Vault
	records  *control.Set[records]
	sessions sessionPolicies
}

// HoldsSecrets reports whether s has secrets, which only the vault that encrypted them can decrypt.
func HoldsSecrets(s *store.Store) (bool, error) { return keyTable.Any(s) }

// Open reads the directory from the control store and follows its changes.
func Open(c *control.Control, v *identity.Vault) (*Directory, error) {
	d := &Directory{control: c, vault: v}
	d.records = control.NewSet(control.SetOptions[records]{
		Control: c, Prefix: Prefix, New: recordsOf(v), Changed: changed,
	})
	if err := d.records.Register(); err != nil {
		return nil, err
	}
	return d, nil
}

// Find returns the entity of that name, or nil. It ignores case: no two names differ only in case.
func (d *Directory) Find(kind Kind, account, written string) *Entity {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return r.names[nameOf(kind, account, written)]
}

// Entity returns the entity with that id, or nil.
func (d *Directory) Entity(id string) *Entity {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return r.entities[id]
}

// Report returns the note of the last request for an account's credential report, or nil.
func (d *Directory) Report(account string) *Entity { return d.Entity(reportID + account) }

// ByARN returns the entity with that ARN, or nil.
func (d *Directory) ByARN(arn string) *Entity {
	rest, _ := strings.CutPrefix(arn, "arn:aws:iam::")
	account, resource, _ := strings.Cut(rest, ":")
	kind, name, _ := strings.Cut(resource, "/")
	if Kind(kind) != Provider { // names can contain slashes
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	e := d.Find(Kind(kind), account, name)
	if e == nil || e.ARN() != arn {
		return nil
	}
	return e
}

// List returns the entities of one kind in an account, sorted by name.
func (d *Directory) List(kind Kind, account string) []*Entity {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return slices.Collect(r.order.entities.Range(&Entity{Account: account, Kind: kind}, func(e *Entity) bool {
		return e.Account == account && e.Kind == kind
	}))
}

// Members returns the users in a group, sorted by name.
func (d *Directory) Members(group *Entity) []*Entity {
	return d.related(group.Account, member, group.ID)
}

// Groups returns the groups that a user is in, sorted by name.
func (d *Directory) Groups(user *Entity) (out []*Entity) {
	r := d.records.RLock()
	for _, id := range user.Groups {
		if g := r.entities[id]; g != nil {
			out = append(out, g)
		}
	}
	d.records.RUnlock()
	slices.SortFunc(out, byName)
	return out
}

// ProfilesOf returns the instance profiles that have a role, sorted by name.
func (d *Directory) ProfilesOf(role *Entity) []*Entity {
	return d.related(role.Account, holder, role.ID)
}

// Users returns the entities of an account that have a managed policy, attached or as their boundary, sorted by name.
func (d *Directory) Users(account, arn string) (attachedTo, bounding []*Entity) {
	return d.related(account, attached, arn), d.related(account, bounded, arn)
}

// Key returns an access key, or nil.
func (d *Directory) Key(id string) *Key {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return r.keys[id]
}

// Keys returns a user's access keys, oldest first.
func (d *Directory) Keys(user *Entity) []*Key {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return slices.Collect(r.order.keys.Range(&Key{User: user.ID}, func(k *Key) bool { return k.User == user.ID }))
}

// Policy returns the managed policy with that ARN, or nil.
func (d *Directory) Policy(arn string) *Managed {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return r.managed[arn]
}

// Policies returns the managed policies of an account, or with "aws" those that
// are built in, sorted by name.
func (d *Directory) Policies(account string) []*Managed {
	r := d.records.RLock()
	defer d.records.RUnlock()
	return slices.Collect(r.order.policies.Range(&Managed{Account: account}, func(m *Managed) bool {
		return m.Account == account
	}))
}

// Alias returns an account's alias, or "".
func (d *Directory) Alias(account string) string {
	r := d.records.RLock()
	defer d.records.RUnlock()
	if alias := r.aliases[account]; alias != nil {
		return *alias
	}
	return ""
}

// Aliased returns the account that has an alias.
func (d *Directory) Aliased(alias string) (account string, ok bool) {
	r := d.records.RLock()
	defer d.records.RUnlock()
	account, ok = r.aliased[alias]
	return account, ok
}
