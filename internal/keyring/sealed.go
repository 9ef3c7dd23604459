package keyring

import (
	"context"
	"errors"
	"fmt"
)

// Service is a key service: it seals the keys of a ring with a key of its own, which never leaves it. Its methods are
// safe for concurrent use. Their errors wrap one of those below; any other counts as ErrNoAnswer.
type Service interface {
	// Seal returns a key of the ring, which has an id, in a form that only the service can open.
	Seal(ctx context.Context, id string, key []byte) (sealed []byte, err error)
	// Open reverses Seal.
	Open(ctx context.Context, id string, sealed []byte) (key []byte, err error)
}

// Why a key cannot be used.
var (
	// ErrNoKey reports that there is no such key.
	ErrNoKey = errors.New("the encryption key does not exist")
	// ErrDisabled reports that a key is retired, or that the service has disabled its key.
	ErrDisabled = errors.New("the encryption key is disabled")
	// ErrDenied reports that the server may not use the key of the service.
	ErrDenied = errors.New("the key service denies the use of its key")
	// ErrInvalidState reports that the state of the service's key, such as a pending deletion, does not allow its use.
	ErrInvalidState = errors.New("the state of the key service's key does not allow its use")
	// ErrNoAnswer reports that the service does not answer, or not as it should.
	ErrNoAnswer = errors.New("the key service does not answer")
)

// IsRefusal reports whether a service has refused to use its key: waiting does not help.
func IsRefusal(err error) bool {
	for _, refused := range []error{ErrNoKey, ErrDisabled, ErrDenied, ErrInvalidState} {
		if errors.Is(err, refused) {
			return true
		}
	}
	return false
}

// Sealed reports whether a key service has sealed the keys.
func (r *Ring) Sealed() bool { return r.keys[0].sealed != nil }

// Open returns the ring with its keys open.
func (r *Ring) Open(ctx context.Context, s Service) (*Ring, error) {
	return r.each(func(k *Key) (*Key, error) { return k.open(ctx, s) })
}

// Seal returns the ring open, with the keys sealed that were not. The service must open each key: messages would be
// lost with a file that it cannot open.
func (r *Ring) Seal(ctx context.Context, s Service) (*Ring, error) {
	return r.each(func(k *Key) (_ *Key, err error) {
		sealed := *k
		if k.sealed == nil {
			if sealed.sealed, err = s.Seal(ctx, k.ID(), k.value[:]); err != nil {
				return nil, err
			}
		}
		if n := len(sealed.sealed); n == 0 || n > maxSealed {
			return nil, fmt.Errorf("%w: it makes %d bytes of the key: want 1 to %d", ErrNoAnswer, n, maxSealed)
		}
		return sealed.open(ctx, s)
	})
}

// Unseal returns the ring with its keys open and no longer sealed.
func (r *Ring) Unseal(ctx context.Context, s Service) (*Ring, error) {
	return r.each(func(k *Key) (*Key, error) {
		opened, err := k.open(ctx, s)
		if err == nil {
			opened.sealed = nil
		}
		return opened, err
	})
}

// Try returns nil if the service still opens the key that encrypts.
func (r *Ring) Try(ctx context.Context, s Service) error {
	_, err := r.First().open(ctx, s)
	return err
}

func (r *Ring) each(change func(*Key) (*Key, error)) (*Ring, error) {
	out := new(Ring)
	for _, k := range r.keys {
		changed, err := change(k)
		if err != nil {
			return nil, fmt.Errorf("key %s: %w", k.ID(), err)
		}
		out.keys = append(out.keys, changed)
	}
	return out, nil
}

// open opens a sealed key. Its id is derived from its value, so a service cannot give another one for it.
func (k *Key) open(ctx context.Context, s Service) (*Key, error) {
	value, err := s.Open(ctx, k.ID(), k.sealed)
	if err != nil {
		return nil, err
	}
	if len(value) != KeySize {
		return nil, fmt.Errorf("%w: it gives %d bytes, not a key", ErrNoAnswer, len(value))
	}
	opened := newKey([KeySize]byte(value), k.made)
	if opened.id != k.id {
		return nil, fmt.Errorf("%w: it gives another key", ErrNoAnswer)
	}
	opened.sealed = k.sealed
	return opened, nil
}
