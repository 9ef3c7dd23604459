package signing

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/control"
)

// The life of a key. Each time is counted from the creation of the key or of its successor:
//
//	made ── ripens ──► signs ─────────── signsFor ──► successor made ── ripens ──► signs no more ── keptFor ──► removed
//
// The certificate is valid for longer than all of that, see validity.
const (
	// ripens is how long a key waits before it signs: by then all nodes have its record, and can serve the certificate.
	ripens = 10 * time.Minute
	// signsFor is the age at which a key gets a successor.
	signsFor = 365 * 24 * time.Hour
	// keptFor is how long the certificate of a key is served after its successor was created: a message stays in a
	// queue for 14 days at most, and in its dead-letter queue for as long; the rest is for retries and late consumers.
	keptFor = 30 * 24 * time.Hour
	// lookEvery is the interval of checks of the keys.
	lookEvery = time.Minute
)

// Rotation creates successors of keys, and removes keys that no message needs any more.
type Rotation struct {
	Keys    *Keys
	Control *control.Control
	Now     func() time.Time
	Log     *slog.Logger
}

// Run checks the keys every minute until ctx ends, on the node that owns the control store.
func (r *Rotation) Run(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		if !r.Control.Elsewhere() {
			if err := r.Look(ctx); err != nil && ctx.Err() == nil {
				r.Log.Warn("the keys that sign messages of topics are not rotated now; it is tried again", "error", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Look does the work that is due now.
func (r *Rotation) Look(ctx context.Context) error {
	now := r.Now()
	newest := r.Keys.newest()
	if newest == nil { // there is no topic yet
		return nil
	}
	if !now.Before(newest.Made.Add(signsFor)) {
		if err := r.succeed(ctx, newest, now); err != nil {
			return err
		}
	}
	return r.remove(ctx, now)
}

// succeed creates the successor of a key.
func (r *Rotation) succeed(ctx context.Context, old *Key, now time.Time) error {
	key, err := makeKey(r.Keys.vault, now) // outside the change, because it takes long
	if err != nil {
		return fmt.Errorf("make a key to sign messages of topics: %w", err)
	}
	return r.Control.Change(ctx, func(tx *control.Tx) error {
		if r.Keys.newest() == old {
			table.Put(tx, key.name, key)
			r.Log.Info(
				"created a new key to sign messages of topics", "certificate", key.name, "signs_from", now.Add(ripens),
			)
		}
		return nil
	})
}

// remove removes the keys whose messages are gone.
func (r *Rotation) remove(ctx context.Context, now time.Time) error {
	if len(r.Keys.outlived(now)) == 0 {
		return nil
	}
	return r.Control.Change(ctx, func(tx *control.Tx) error {
		for _, key := range r.Keys.outlived(now) {
			table.Delete(tx, key.name)
			r.Log.Info("removed an old key that has signed messages of topics", "certificate", key.name)
		}
		return nil
	})
}

// outlived returns the keys whose successors were made so long ago that no message needs their certificates.
func (k *Keys) outlived(now time.Time) (out []*Key) {
	all := k.byAge()
	for i, key := range all[:max(len(all)-1, 0)] {
		if !now.Before(all[i+1].Made.Add(keptFor)) {
			out = append(out, key)
		}
	}
	return out
}

// signing returns the key that signs now: the newest that is ripe, or else the oldest, of an installation that has no
// other. A certificate that has expired meanwhile, because the server was stopped for years, signs nothing.
func (k *Keys) signing(now time.Time) *Key {
	all := k.byAge()
	for i, key := range slices.Backward(all) {
		ripe := !now.Before(key.Made.Add(ripens))
		if i == 0 || ripe || !now.Before(all[i-1].Made.Add(validity)) {
			return key
		}
	}
	return nil
}

// byAge returns the keys, the oldest first.
func (k *Keys) byAge() []*Key {
	all := slices.Collect(maps.Values(k.records.RLock().keys))
	k.records.RUnlock()
	slices.SortFunc(all, func(a, b *Key) int { return cmp.Or(a.Made.Compare(b.Made), cmp.Compare(a.name, b.name)) })
	return all
}
