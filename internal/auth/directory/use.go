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

// usesAtOnce bounds the uses in one change, and in one message to the control store's owner.
const usesAtOnce = 1000

// SaveUses writes down the uses that have changed, or sends them.
func (d *Directory) SaveUses(ctx context.Context, send func(context.Context, Uses) error) error {
	changed := d.unsavedUses()
	ids := slices.Sorted(maps.Keys(changed))
	for part := range slices.Chunk(ids, usesAtOnce) {
		uses := make(Uses, len(part))
		for _, id := range part {
			uses[id] = changed[id]
		}
		err := d.writeUses(ctx, uses)
		if errors.Is(err, control.ErrElsewhere) {
			err = send(ctx, uses)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unsavedUses returns the uses that are not in the store.
func (d *Directory) unsavedUses() Uses {
	d.mu.RLock()
	defer d.mu.RUnlock()
	unsaved := make(Uses)
	for id, k := range d.keys {
		if !k.use.isSaved() {
			unsaved[id] = *k.use.last.Load()
		}
	}
	return unsaved
}

// writeUses writes down the uses of the keys that still exist.
func (d *Directory) writeUses(ctx context.Context, uses Uses) error {
	return d.Change(ctx, func(tx *Tx) error {
		for id, last := range uses {
			if d.Key(id) != nil {
				tx.tx.Put(keyUse+id, encode(last))
			}
		}
		return nil
	})
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
