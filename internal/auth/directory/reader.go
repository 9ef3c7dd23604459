package directory

import (
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/control"
)

// Prefix begins the keys of all records of this package.
const Prefix = "directory/"

var (
	entityTable = control.Table[string, Entity]{Prefix: Prefix + "entity/", Key: control.Text}
	keyTable    = control.Table[string, Key]{Prefix: Prefix + "key/", Key: control.Text}
	useTable    = control.Table[string, Use]{Prefix: Prefix + "use/", Key: control.Text}
	policyTable = control.Table[string, Managed]{Prefix: Prefix + "policy/", Key: control.Text}
	aliasTable  = control.Table[string, string]{Prefix: Prefix + "alias/", Key: control.Text}
)

// records holds the records of the store, and what is derived from them.
type records struct {
	entities map[string]*Entity // by id
	names    map[name]*Entity
	keys     map[string]*Key
	managed  map[string]*Managed // by ARN, with those that are built in
	aliases  map[string]*string  // by account
	aliased  map[string]string   // the accounts, by alias
	order    order
	saved    map[string]*Use // by id of the key, user or role
	uses     map[string]*use // by id of the user or role

	effective map[string]*effectivePolicies // cleared with every change
}

// recordsOf returns a function that creates records whose keys the vault opens. Without a vault their secrets stay
// encrypted.
func recordsOf(v *identity.Vault) func() (*records, control.Kinds) {
	return func() (*records, control.Kinds) {
		r := &records{
			names: make(map[name]*Entity), aliased: make(map[string]string), order: newOrder(),
			uses: make(map[string]*use), effective: make(map[string]*effectivePolicies),
		}
		for _, m := range builtin {
			r.order.policies.Put(m)
		}
		kinds := control.Kinds{
			entityTable.Into(&r.entities, r.nameEntity, r.order.put),
			keyTable.Into(&r.keys, keyOpener(v), control.InOrder[string](r.order.keys)),
			policyTable.Into(&r.managed, control.InOrder[string](r.order.policies)),
			aliasTable.Into(&r.aliases, r.nameAccount), useTable.Into(&r.saved, r.loadUse),
		}
		for _, m := range builtin {
			r.managed[m.ARN()] = m
		}
		return r, kinds
	}
}

// nameEntity records the name of an entity.
func (r *records) nameEntity(id string, old, is *Entity) error {
	if old != nil {
		if n := nameOf(old.Kind, old.Account, old.Name); r.names[n] == old {
			delete(r.names, n)
		}
	}
	if is == nil {
		delete(r.uses, id)
		return nil
	}
	r.names[nameOf(is.Kind, is.Account, is.Name)] = is
	return nil
}

// nameAccount records the alias of an account.
func (r *records) nameAccount(account string, old, is *string) error {
	if old != nil && r.aliased[*old] == account {
		delete(r.aliased, *old)
	}
	if is != nil {
		r.aliased[*is] = account
	}
	return nil
}

// keyOpener returns a function that decrypts the secrets of keys. A new record of a key keeps the uses of the old one.
func keyOpener(v *identity.Vault) control.Hook[string, Key] {
	return func(_ string, old, is *Key) (err error) {
		if is == nil {
			return nil
		}
		if is.use = new(use); old != nil {
			is.use = old.use
		}
		if v != nil {
			is.secret, err = v.Open(is.ID, is.Sealed)
		}
		return err
	}
}

// loadUse loads a use, whose record is behind those of keys and entities.
func (r *records) loadUse(id string, _, is *Use) error {
	switch {
	case is == nil:
	case r.keys[id] != nil:
		r.keys[id].use.load(is)
	case r.entities[id] != nil:
		r.useOf(id).load(is)
	}
	return nil
}

// useOf returns the known use of a user or role.
func (r *records) useOf(id string) *use {
	u := r.uses[id]
	if u == nil {
		u = new(use)
		r.uses[id] = u
	}
	return u
}

// changed clears everything derived. The observed uses of keys, users and roles survive a reload.
func changed(was, now *records) {
	clear(now.effective)
	if was == now {
		return
	}
	for id, k := range now.keys {
		if old := was.keys[id]; old != nil {
			k.use = old.use.adopt(k.use)
		}
	}
	for id, seen := range was.uses {
		if now.entities[id] != nil {
			now.uses[id] = seen.adopt(now.uses[id])
		}
	}
}
