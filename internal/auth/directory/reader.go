package directory

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
)

// reader loads the directory from the control store. A change drops everything that was derived from the changed
// record.
type reader struct{ d *Directory }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	d := r.d
	fresh := newRecords()
	d.mu.RLock()
	old := d.records
	d.mu.RUnlock()
	for k, v := range all {
		if err := fresh.put(k, v, d.vault, &old); err != nil {
			return err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records = fresh
	clear(d.effective)
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	d := r.d
	d.mu.Lock()
	defer d.mu.Unlock()
	clear(d.effective)
	for _, ch := range changes {
		if ch.Removed {
			d.remove(ch.Key)
		} else if err := d.put(ch.Key, ch.Value, d.vault, &d.records); err != nil {
			return err
		}
	}
	return nil
}

func newRecords() records {
	r := records{
		entities: make(map[string]*Entity), names: make(map[name]*Entity), keys: make(map[string]*Key),
		managed: make(map[string]*Managed), aliases: make(map[string]string), uses: make(map[string]*use),
	}
	for _, m := range builtin {
		r.managed[m.ARN()] = m
	}
	return r
}

// opener opens the secrets of keys.
type opener interface {
	Open(name string, sealed []byte) (string, error)
}

// put takes in a record. With no opener, secrets stay encrypted. Known times of use of keys, users and roles are kept.
func (r *records) put(k string, value []byte, vault opener, known *records) error {
	var err error
	switch {
	case strings.HasPrefix(k, keyEntity):
		e := new(Entity)
		if err = json.Unmarshal(value, e); err == nil {
			r.putEntity(e)
			if u := known.uses[e.ID]; u != nil {
				r.uses[e.ID] = u
			}
		}
	case strings.HasPrefix(k, keyKey):
		key := &Key{use: new(use)}
		if err = json.Unmarshal(value, key); err != nil {
			break
		}
		if vault != nil {
			key.secret, err = vault.Open(key.ID, key.Sealed)
		}
		if old := known.keys[key.ID]; old != nil {
			key.use = old.use
		}
		r.keys[key.ID] = key
	case strings.HasPrefix(k, keyUse): // behind the keys and entities
		var u Use
		err = json.Unmarshal(value, &u)
		switch id := k[len(keyUse):]; {
		case err != nil:
		case r.keys[id] != nil:
			r.keys[id].use.load(u)
		case r.entities[id] != nil:
			r.useOf(id).load(u)
		}
	case strings.HasPrefix(k, keyPolicy):
		m := new(Managed)
		if err = json.Unmarshal(value, m); err == nil {
			r.managed[m.ARN()] = m
		}
	case strings.HasPrefix(k, keyAlias):
		var alias string
		err = json.Unmarshal(value, &alias)
		r.aliases[k[len(keyAlias):]] = alias
	default:
		err = errors.New("unknown key, written by a newer program")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", k, err)
	}
	return nil
}

// useOf returns what is known of the use of a user or role.
func (r *records) useOf(id string) *use {
	u := r.uses[id]
	if u == nil {
		u = new(use)
		r.uses[id] = u
	}
	return u
}

func (r *records) putEntity(e *Entity) {
	r.removeEntity(e.ID)
	r.entities[e.ID] = e
	r.names[nameOf(e.Kind, e.Account, e.Name)] = e
}

func (r *records) removeEntity(id string) {
	old := r.entities[id]
	if old == nil {
		return
	}
	delete(r.entities, id)
	if n := nameOf(old.Kind, old.Account, old.Name); r.names[n] == old {
		delete(r.names, n)
	}
}

// remove forgets a record.
func (r *records) remove(k string) {
	switch {
	case strings.HasPrefix(k, keyEntity):
		r.removeEntity(k[len(keyEntity):])
		delete(r.uses, k[len(keyEntity):])
	case strings.HasPrefix(k, keyKey):
		delete(r.keys, k[len(keyKey):])
	case strings.HasPrefix(k, keyPolicy):
		delete(r.managed, k[len(keyPolicy):])
	case strings.HasPrefix(k, keyAlias):
		delete(r.aliases, k[len(keyAlias):])
	}
}
