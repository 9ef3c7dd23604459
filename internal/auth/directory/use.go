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

// Use is when and for what an access key, a user or a role was used last.
type Use struct {
	At      time.Time
	Service string
	Region  string
	// Services has the last use of each service. It is empty for access keys. It is not changed in place.
	Services map[string]Visit `json:",omitempty"`
}

// SignIn is what Services has for the console, where a user has signed in by password.
const SignIn = "signin"

// Visit is when and in which region a service was used last.
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
		maps.EqualFunc(u.Services, o.Services, func(a, b Visit) bool { return a.At.Equal(b.At) && a.Region == b.Region })
}

// use is the last use of a key, a user or a role. It is not worth a write to the disk of each
// request: what the last minutes before a crash have seen may be lost.
type use struct {
	last  atomic.Pointer[Use]
	saved atomic.Pointer[Use] // as it is in the store
}

// load takes in the times of use in the store. Times observed since take precedence.
func (u *use) load(saved Use) {
	u.saved.Store(&saved)
	u.note(saved)
}

// note takes in what was seen, here or elsewhere, unless a later use is known.
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

// isSaved reports whether the store has the last use.
func (u *use) isSaved() bool {
	last, saved := u.last.Load(), u.saved.Load()
	return last == nil || saved != nil && last.equal(saved)
}

const (
	useEvery  = time.Minute      // how exact times are
	saveEvery = 15 * time.Minute // how often they are written
)

// Used notes that a key was used.
func (d *Directory) Used(keyID, service, region string, now time.Time) {
	k := d.Key(keyID)
	if k == nil {
		return
	}
	if last := k.use.last.Load(); last != nil && now.Sub(last.At) < useEvery && last.Service == service && last.Region == region {
		return
	}
	k.use.last.Store(&Use{At: now.UTC().Truncate(time.Second), Service: service, Region: region})
}

// Seen notes that a user or a role, whose id this is, has called a service.
func (d *Directory) Seen(id, service, region string, now time.Time) {
	d.mu.RLock()
	u, known := d.uses[id], d.entities[id] != nil
	d.mu.RUnlock()
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

// begin returns what is known of the use of a user or role, which may be nothing yet.
func (d *Directory) begin(id string) *use {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.useOf(id)
}

// LastUse returns when a key was used last, or false if it never was.
func (k *Key) LastUse() (Use, bool) { return k.use.get() }

// LastUse returns when and for what a user or role has called, or false if it never has.
func (d *Directory) LastUse(e *Entity) (Use, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if u := d.uses[e.ID]; u != nil {
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

// Run writes uses down now and then, and once more when ctx has
// ended. Where another node owns the control store, send brings them there, to
// NoteUses, again and again until they have come back with a change. An error only means that they are written later.
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

// SaveUses writes down the uses that have changed, or sends them.
func (d *Directory) SaveUses(ctx context.Context, send func(context.Context, Uses) error) error {
	changed := make(Uses)
	d.mu.RLock()
	for id, k := range d.keys {
		if !k.use.isSaved() {
			changed[id] = *k.use.last.Load()
		}
	}
	for id, u := range d.uses {
		if !u.isSaved() {
			changed[id] = *u.last.Load()
		}
	}
	d.mu.RUnlock()
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

// usesAtOnce is how many uses are part of one change. They fit into a message to another node with room to spare.
const usesAtOnce = 500

func (d *Directory) save(ctx context.Context, changed Uses, send func(context.Context, Uses) error) error {
	err := d.Change(ctx, func(tx *Tx) error {
		for id, last := range changed {
			if d.Key(id) != nil || d.Entity(id) != nil { // it may have been deleted meanwhile
				tx.tx.Put(keyUse+id, encode(last))
			}
		}
		return nil
	})
	if errors.Is(err, control.ErrElsewhere) {
		return send(ctx, changed)
	}
	return err
}

// NoteUses takes in what another node has seen, to be written down with what this
// one has.
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
