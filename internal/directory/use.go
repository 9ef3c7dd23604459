package directory

import (
	"context"
	"sync/atomic"
	"time"
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

func (u *use) load(saved Use) {
	u.last.Store(&saved)
	u.saved.Store(&saved)
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

// KeepUses writes the uses of keys down now and then, and once more when ctx has
// ended. An error only means that they are written later.
func (d *Directory) KeepUses(ctx context.Context) error {
	again := time.NewTicker(saveEvery)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return d.SaveUses()
		case <-again.C:
			_ = d.SaveUses()
		}
	}
}

// SaveUses writes down the uses that have changed.
func (d *Directory) SaveUses() error {
	d.mu.RLock()
	changed := make(map[*Key]*Use)
	for _, k := range d.keys {
		if last := k.use.last.Load(); last != nil && last != k.use.saved.Load() {
			changed[k] = last
		}
	}
	d.mu.RUnlock()
	if len(changed) == 0 {
		return nil
	}
	return d.Change(func(tx *Tx) error {
		for k, last := range changed {
			if d.Key(k.ID) != nil { // it may have been deleted meanwhile
				tx.set(keyUse+k.ID, last, func() { k.use.saved.Store(last) })
			}
		}
		return nil
	})
}
