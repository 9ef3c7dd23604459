package directory

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// Use is when and for what an access key was used last.
type Use struct {
	At      time.Time
	Service string
	Region  string
}

// use is the last use of a key. It is not worth a write to the disk of each
// request: what the last minutes before a crash have seen may be lost.
type use struct {
	last  atomic.Pointer[Use]
	saved atomic.Pointer[Use] // as it is in the store
}

// load takes in what is in the store. What has been seen since counts more.
func (u *use) load(saved Use) {
	u.saved.Store(&saved)
	u.note(saved)
}

// note takes in what was seen, here or elsewhere, unless a later use is known.
func (u *use) note(seen Use) {
	for {
		last := u.last.Load()
		if last != nil && !last.At.Before(seen.At) || u.last.CompareAndSwap(last, &seen) {
			return
		}
	}
}

// isSaved reports whether the store has the last use.
func (u *use) isSaved() bool {
	last, saved := u.last.Load(), u.saved.Load()
	return last == nil || saved != nil && last.At.Equal(saved.At) && last.Service == saved.Service && last.Region == saved.Region
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

// LastUse returns when a key was used last, or false if it never was.
func (k *Key) LastUse() (Use, bool) {
	if last := k.use.last.Load(); last != nil {
		return *last, true
	}
	return Use{}, false
}

// Uses are last uses of keys, by their ids.
type Uses map[string]Use

// KeepUses writes the uses of keys down now and then, and once more when ctx has
// ended. Where another node owns the control store, send brings them there, to
// NoteUses, again and again until they have come back with a change. An error only means that they are written later.
func (d *Directory) KeepUses(ctx context.Context, send func(context.Context, Uses) error) error {
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
	d.mu.RUnlock()
	if len(changed) == 0 {
		return nil
	}
	err := d.Change(ctx, func(tx *Tx) error {
		for id, last := range changed {
			if d.Key(id) != nil { // it may have been deleted meanwhile
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
		if k := d.Key(id); k != nil {
			k.use.note(seen)
		}
	}
}
