package directory

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Directory is the set of records. Its methods may be called from any goroutine.
type Directory struct {
	control *control.Control
	vault   *identity.Vault

	mu sync.RWMutex
	records
	effective map[string]*effectivePolicies

	sessions sessionPolicies
}

// records are what there is in the store.
type records struct {
	entities map[string]*Entity // by id
	names    map[name]*Entity
	keys     map[string]*Key
	managed  map[string]*Managed // by ARN, with those that are built in
	aliases  map[string]string   // by account
	uses     map[string]*use     // by id of the user or role
}

// Keys of the store.
const (
	Prefix    = "directory/" // of all of them
	keyEntity = Prefix + "entity/"
	keyKey    = Prefix + "key/"
	keyUse    = Prefix + "use/"
	keyPolicy = Prefix + "policy/"
	keyAlias  = Prefix + "alias/"
)

// HoldsSecrets reports whether there are secrets in s, which only the vault that
// has encrypted them can open.
func HoldsSecrets(s *store.Store) (bool, error) {
	found := false
	err := control.Records(s, keyKey, func(string, []byte) bool {
		found = true
		return false
	})
	return found, err
}

// Open reads the directory from the control store and follows its changes.
func Open(c *control.Control, v *identity.Vault) (*Directory, error) {
	d := &Directory{control: c, vault: v, records: newRecords(), effective: make(map[string]*effectivePolicies)}
	if err := c.Register(Prefix, reader{d}); err != nil {
		return nil, err
	}
	return d, nil
}

// Find returns the entity of that name, or nil. It ignores case: no two names differ only in case.
func (d *Directory) Find(kind Kind, account, written string) *Entity {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.names[nameOf(kind, account, written)]
}

// Entity returns the entity with that id, or nil.
func (d *Directory) Entity(id string) *Entity {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.entities[id]
}

// Report returns the note of when the credential report of an account was asked for last, or nil.
func (d *Directory) Report(account string) *Entity { return d.Entity(reportID + account) }

// ByARN returns the entity with that ARN, or nil.
func (d *Directory) ByARN(arn string) *Entity {
	rest, _ := strings.CutPrefix(arn, "arn:aws:iam::")
	account, resource, _ := strings.Cut(rest, ":")
	kind, name, _ := strings.Cut(resource, "/")
	if Kind(kind) != Provider { // whose name can have slashes
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
	return d.list(func(e *Entity) bool { return e.Kind == kind && e.Account == account })
}

// Members returns the users in a group, sorted by name.
func (d *Directory) Members(group *Entity) []*Entity {
	return d.list(func(e *Entity) bool { return slices.Contains(e.Groups, group.ID) })
}

// Groups returns the groups that a user is in, sorted by name.
func (d *Directory) Groups(user *Entity) []*Entity {
	return d.list(func(e *Entity) bool { return slices.Contains(user.Groups, e.ID) })
}

// ProfilesOf returns the instance profiles that have a role, sorted by name.
func (d *Directory) ProfilesOf(role *Entity) []*Entity {
	return d.list(func(e *Entity) bool { return slices.Contains(e.Roles, role.ID) })
}

// Users returns the entities that have a managed policy, attached or as their
// boundary, sorted by name.
func (d *Directory) Users(arn string) (attached, bounded []*Entity) {
	attached = d.list(func(e *Entity) bool { return slices.Contains(e.Attached, arn) })
	bounded = d.list(func(e *Entity) bool { return e.Boundary == arn })
	return attached, bounded
}

func (d *Directory) list(keep func(*Entity) bool) []*Entity {
	d.mu.RLock()
	var out []*Entity
	for _, e := range d.entities {
		if keep(e) {
			out = append(out, e)
		}
	}
	d.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Entity) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind)) })
	return out
}

// Key returns an access key, or nil.
func (d *Directory) Key(id string) *Key {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.keys[id]
}

// Keys returns a user's access keys, oldest first.
func (d *Directory) Keys(user *Entity) []*Key {
	d.mu.RLock()
	var out []*Key
	for _, k := range d.keys {
		if k.User == user.ID {
			out = append(out, k)
		}
	}
	d.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Key) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	return out
}

// Policy returns the managed policy with that ARN, or nil.
func (d *Directory) Policy(arn string) *Managed {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.managed[arn]
}

// Policies returns the managed policies of an account, or with "aws" those that
// are built in, sorted by name.
func (d *Directory) Policies(account string) []*Managed {
	d.mu.RLock()
	var out []*Managed
	for _, m := range d.managed {
		if m.Account == account {
			out = append(out, m)
		}
	}
	d.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Managed) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// Alias returns an account's alias, or "".
func (d *Directory) Alias(account string) string {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.aliases[account]
}

// Aliased returns the account that has an alias.
func (d *Directory) Aliased(alias string) (account string, ok bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	for account, other := range d.aliases {
		if other == alias {
			return account, true
		}
	}
	return "", false
}
