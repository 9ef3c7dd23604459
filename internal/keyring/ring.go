package keyring

import (
	"fmt"
	"slices"
	"time"
)

// maxKeys bounds the keys of a ring.
const maxKeys = 1000

// Ring is the keys of an installation, at least one. It is immutable.
type Ring struct {
	keys []*Key
}

// newRing returns a ring, which must not have a key twice, nor two whose ids begin alike.
func newRing(keys []*Key) (*Ring, error) {
	if len(keys) == 0 {
		return nil, fmt.Errorf("there is no key")
	}
	seen := make(map[ShortID]bool, len(keys))
	for _, k := range keys {
		if seen[k.Short()] {
			return nil, fmt.Errorf("the key %s is there twice", k.ID())
		}
		seen[k.Short()] = true
	}
	return &Ring{keys: keys}, nil
}

// New returns a ring with one new key.
func New(now time.Time) *Ring { return &Ring{keys: []*Key{generate(now)}} }

// Keys returns the keys, the one that encrypts first.
func (r *Ring) Keys() []*Key { return slices.Clone(r.keys) }

// First returns the key that encrypts.
func (r *Ring) First() *Key { return r.keys[0] }

// Find returns the key whose id has that beginning, or nil. It compares with each key: rings are short.
func (r *Ring) Find(id ShortID) *Key {
	for _, k := range r.keys {
		if k.Short() == id {
			return k
		}
	}
	return nil
}

// ByID returns the key with that id, a UUID in lower case, or nil.
func (r *Ring) ByID(id string) *Key {
	for _, k := range r.keys {
		if k.ID() == id {
			return k
		}
	}
	return nil
}

// Rotate returns the ring with a new first key. If the last key is younger than the first, it was prepared for this,
// and becomes the first.
func (r *Ring) Rotate(now time.Time) (*Ring, error) {
	if last := len(r.keys) - 1; r.prepared(r.keys[last]) {
		return &Ring{keys: append([]*Key{r.keys[last]}, r.keys[:last]...)}, nil
	}
	if err := r.checkRoom(); err != nil {
		return nil, err
	}
	return &Ring{keys: append([]*Key{generate(r.after(now))}, r.keys...)}, nil
}

// Prepare returns the ring with a new last key, which encrypts after the next Rotate. It must reach all nodes of a
// cluster before that.
func (r *Ring) Prepare(now time.Time) (*Ring, error) {
	if r.prepared(r.keys[len(r.keys)-1]) {
		return nil, fmt.Errorf("the key %s is prepared already", r.keys[len(r.keys)-1].ID())
	}
	if err := r.checkRoom(); err != nil {
		return nil, err
	}
	return &Ring{keys: append(slices.Clone(r.keys), generate(r.after(now)))}, nil
}

// Remove returns the ring without a key that only decrypts.
func (r *Ring) Remove(id string) (*Ring, error) {
	k := r.ByID(id)
	switch {
	case k == nil:
		return nil, fmt.Errorf("there is no key %s", id)
	case k == r.First():
		return nil, fmt.Errorf("the key %s encrypts: rotate first", id)
	case r.prepared(k):
		return nil, fmt.Errorf("the key %s is prepared to encrypt: rotate twice first", id)
	}
	return &Ring{keys: slices.DeleteFunc(slices.Clone(r.keys), func(other *Key) bool { return other == k })}, nil
}

// prepared reports whether a key encrypts after the next rotation.
func (r *Ring) prepared(k *Key) bool { return k.made.After(r.keys[0].made) }

// after returns now, or the next second after the first key was made: the younger of two keys is known by its time.
func (r *Ring) after(now time.Time) time.Time {
	if next := r.keys[0].made.Add(time.Second); now.Before(next) {
		return next
	}
	return now
}

func (r *Ring) checkRoom() error {
	if len(r.keys) >= maxKeys {
		return fmt.Errorf("there are %d keys, and no room for another: retire one", len(r.keys))
	}
	return nil
}
