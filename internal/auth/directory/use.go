package directory

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// Use is the last use of an access key, a user or a role.
type Use struct {
	At      time.Time
	Service string
	Region  string
	// Services holds the last use of each service. It is empty for access keys. It is immutable.
	Services map[string]Visit `json:",omitempty"`
}

// SignIn is the entry in Services for the console, when a user has signed in by password.
const SignIn = "signin"

// Visit is the time and region of the last use of a service.
type Visit struct {
	At     time.Time
	Region string
}

// visiting returns u with the use of a service added.
func (u Use) visiting(service string, v Visit) Use {
	u.Services = maps.Clone(u.Services)
	if u.Services == nil {
		u.Services = make(map[string]Visit)
	}
	u.Services[service] = v
	return u
}

// with returns the later of two uses, with the later use of each service, and whether that differs from u.
func (u Use) with(seen Use) (Use, bool) {
	merged, differs := u, u.At.Before(seen.At)
	if differs {
		merged.At, merged.Service, merged.Region = seen.At, seen.Service, seen.Region
	}
	for service, v := range seen.Services {
		if merged.Services[service].At.Before(v.At) {
			merged, differs = merged.visiting(service, v), true
		}
	}
	return merged, differs
}

func (u *Use) equal(o *Use) bool {
	return u.At.Equal(o.At) && u.Service == o.Service && u.Region == o.Region &&
		maps.EqualFunc(u.Services, o.Services, func(a, b Visit) bool {
			return a.At.Equal(b.At) &&
				a.Region == b.Region
		})
}

// use is the last use of a key, a user or a role. It is not worth a write to the disk for each request: the uses of the
// last minutes before a crash may be lost.
type use struct {
	last  atomic.Pointer[Use]
	saved atomic.Pointer[Use] // as stored
}

// load loads stored uses. Later observed uses take precedence.
func (u *use) load(saved *Use) {
	u.saved.Store(saved)
	u.note(*saved)
}

// adopt returns u with the facts of a use that was read again; fresh may be nil.
func (u *use) adopt(fresh *use) *use {
	if fresh != nil {
		if saved := fresh.saved.Load(); saved != nil {
			u.load(saved)
		}
	}
	return u
}

// note records an observed use, from here or another node, unless a later use is known.
func (u *use) note(seen Use) {
	for {
		last := u.last.Load()
		merged, differs := seen, true
		if last != nil {
			merged, differs = last.with(seen)
		}
		if !differs || u.last.CompareAndSwap(last, &merged) {
			return
		}
	}
}

// isSaved reports whether the last use is stored.
func (u *use) isSaved() bool {
	last, saved := u.last.Load(), u.saved.Load()
	return last == nil || saved != nil && last.equal(saved)
}

const (
	useEvery  = time.Minute      // resolution of times
	saveEvery = 15 * time.Minute // interval of writes
)

// Used notes that a key was used.
func (d *Directory) Used(keyID, service, region string, now time.Time) {
	k := d.Key(keyID)
	if k == nil {
		return
	}
	if last := k.use.last.Load(); last != nil && now.Sub(last.At) < useEvery && last.Service == service &&
		last.Region == region {
		return
	}
	k.use.last.Store(&Use{At: now.UTC().Truncate(time.Second), Service: service, Region: region})
}

// Seen records that a user or a role with this id has called a service.
func (d *Directory) Seen(id, service, region string, now time.Time) {
	r := d.records.RLock()
	u, known := r.uses[id], r.entities[id] != nil
	d.records.RUnlock()
	if u != nil {
		if last := u.last.Load(); last != nil {
			if v := last.Services[service]; now.Sub(v.At) < useEvery && v.Region == region {
				return
			}
		}
	} else if !known {
		return
	} else {
		u = d.begin(id)
	}
	at := now.UTC().Truncate(time.Second)
	u.note(Use{At: at, Service: service, Region: region, Services: map[string]Visit{service: {At: at, Region: region}}})
}

// begin returns the known use of a user or role, which may be empty.
func (d *Directory) begin(id string) *use {
	defer d.records.Unlock()
	return d.records.Lock().useOf(id)
}

// LastUse returns when a key was last used, or false if it never was.
func (k *Key) LastUse() (Use, bool) { return k.use.get() }

// LastUse returns the last call of a user or role, or false if there was none.
func (d *Directory) LastUse(e *Entity) (Use, bool) {
	r := d.records.RLock()
	defer d.records.RUnlock()
	if u := r.uses[e.ID]; u != nil {
		return u.get()
	}
	return Use{}, false
}

func (u *use) get() (Use, bool) {
	if last := u.last.Load(); last != nil {
		return *last, true
	}
	return Use{}, false
}

// Uses are last uses of keys, users and roles, by their ids.
type Uses map[string]Use

// Run stores uses periodically, and once more when ctx has ended. If another node owns the control store, send passes
// them to NoteUses there, repeatedly until they come back with a change. An error only means that they are written
// later.
func (d *Directory) Run(ctx context.Context, send func(context.Context, Uses) error) error {
	again := time.NewTicker(saveEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return d.SaveUses(context.WithoutCancel(ctx), send)
		case <-again.C:
			_ = d.SaveUses(ctx, send)
		}
	}
}

// SaveUses writes the changed uses, or sends them.
func (d *Directory) SaveUses(ctx context.Context, send func(context.Context, Uses) error) error {
	changed := make(Uses)
	r := d.records.RLock()
	for id, k := range r.keys {
		if !k.use.isSaved() {
			changed[id] = *k.use.last.Load()
		}
	}
	for id, u := range r.uses {
		if !u.isSaved() {
			changed[id] = *u.last.Load()
		}
	}
	d.records.RUnlock()
	for ids := range slices.Chunk(slices.Collect(maps.Keys(changed)), usesAtOnce) {
		part := make(Uses)
		for _, id := range ids {
			part[id] = changed[id]
		}
		if err := d.save(ctx, part, send); err != nil {
			return err
		}
	}
	return nil
}

// usesAtOnce is how many uses one change includes. They fit easily into a message to another node.
const usesAtOnce = 500

func (d *Directory) save(ctx context.Context, changed Uses, send func(context.Context, Uses) error) error {
	err := d.Change(ctx, func(tx *Tx) error {
		for id, last := range changed {
			if d.Key(id) != nil || d.Entity(id) != nil { // it may have been deleted meanwhile
				useTable.Put(tx.tx, id, &last)
			}
		}
		return nil
	})
	if errors.Is(err, control.ErrElsewhere) {
		return send(ctx, changed)
	}
	return err
}

// NoteUses records the uses of another node, to be written with this node's.
func (d *Directory) NoteUses(uses Uses) {
	for id, seen := range uses {
		switch k := d.Key(id); {
		case k != nil:
			k.use.note(seen)
		case d.Entity(id) != nil:
			d.begin(id).note(seen)
		}
	}
}
