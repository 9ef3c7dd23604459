package encryption

import (
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/queue"
)

// ErrUnreadable reports that a message was encrypted under a key that the ring does not have, or was changed
// afterwards.
var ErrUnreadable = errors.New("the message cannot be decrypted")

// aliases are the aliases of the first key of the ring. On AWS, they are the aliases of the keys of SQS and SNS.
var aliases = []string{"alias/aws/sqs", "alias/aws/sns"}

// Setting is the encryption setting of a queue.
type Setting struct {
	Queue queue.ID
	// Key is the id of a key of the ring, alias/aws/sqs, alias/aws/sns, or an ARN with one of these; empty means the
	// first key.
	Key string
	// Period is how long a data key encrypts.
	Period time.Duration
}

// Cipher encrypts and decrypts. Its methods are safe for concurrent use.
type Cipher struct {
	ring      *keyring.Ring
	usable    atomic.Pointer[[]*keyring.Key] // see Use, as for the next field
	retired   atomic.Pointer[[]*keyring.Key]
	suspended atomic.Pointer[suspension] // nil: the keys may be used
	now       func() time.Time
	encrypts  *slots[purpose, *dataKey]
	decrypts  *slots[wrappedKey, cipher.AEAD]
	unwrapped func() // for tests: called after a data key was unwrapped
}

// New returns a cipher that decrypts with the keys of a ring, and encrypts with those that Use names. The clock now may
// be wrong, but must not stand still.
func New(ring *keyring.Ring, now func() time.Time) *Cipher {
	c := &Cipher{
		ring: ring, now: now, encrypts: newSlots[purpose, *dataKey](), decrypts: newSlots[wrappedKey, cipher.AEAD](),
		unwrapped: func() {},
	}
	c.Use(nil, nil)
	return c
}

// Use sets the keys of the ring that encrypt from now on, the default first, and those that are retired.
func (c *Cipher) Use(keys, retired []*keyring.Key) {
	c.retired.Store(&retired)
	c.usable.Store(&keys)
}

// Encrypts reports whether any key encrypts.
func (c *Cipher) Encrypts() bool { return len(*c.usable.Load()) > 0 }

// Check returns keyring.ErrNoKey if the ring does not have the key of a setting, or keyring.ErrDisabled if that is
// retired.
func (c *Cipher) Check(key string) error {
	_, err := c.key(key)
	return err
}

// key returns an encrypting key by its id, alias or ARN. The error is keyring.ErrNoKey or keyring.ErrDisabled.
func (c *Cipher) key(name string) (*keyring.Key, error) {
	keys := *c.usable.Load()
	if len(keys) == 0 {
		return nil, keyring.ErrNoKey
	}
	if name == "" {
		return keys[0], nil
	}
	name = shortName(name)
	if slices.Contains(aliases, name) {
		return keys[0], nil
	}
	named := func(k *keyring.Key) bool { return k.ID() == name }
	if i := slices.IndexFunc(keys, named); i >= 0 {
		return keys[i], nil
	}
	if slices.ContainsFunc(*c.retired.Load(), named) {
		return nil, keyring.ErrDisabled
	}
	return nil, keyring.ErrNoKey
}

// shortName returns the id or alias in the name of a key, which may be an ARN.
func shortName(name string) string {
	parts := strings.SplitN(name, ":", 6)
	if len(parts) == 6 && parts[0] == "arn" && parts[2] == "kms" {
		return strings.TrimPrefix(parts[5], "key/")
	}
	return name
}

// IsNamed reports whether the name of a key is its id, or an ARN with that.
func IsNamed(name, id string) bool { return shortName(name) == id }

// dataKey returns the data key of a queue, and renews it when its period is over. Goroutines that renew it at the same
// time may create one each: all of them are valid. The error is ErrSuspended.
func (c *Cipher) dataKey(k *keyring.Key, q queue.ID, period time.Duration) (*dataKey, error) {
	now, p := c.now(), purpose{q, k.Short()}
	if d, ok := c.encrypts.get(p); ok && !d.expired(now, period) {
		return d, nil
	}
	if s := c.suspended.Load(); s != nil {
		return nil, s
	}
	d, wrapped := newDataKey(k, q, now)
	c.encrypts.put(p, d)
	c.decrypts.put(wrapped, d.aead)
	return d, nil
}

// open appends the text of an encrypted part.
func (c *Cipher) open(s *buffer, text, b []byte, at place) ([]byte, error) {
	p, err := takeApart(b)
	if err != nil {
		return text, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	aead, err := c.unwrap(p.wrappedKey)
	if err != nil {
		return text, err
	}
	if p.queue == 0 {
		at.of = aPublication
	}
	s.nonce, s.bound = nonceOf(p.counter), boundTo(p.queue, at)
	opened, err := aead.Open(text, s.nonce[:], p.ciphertext, s.bound[:])
	if err != nil {
		return text, fmt.Errorf("%w: it is damaged, or was encrypted for another place", ErrUnreadable)
	}
	return opened, nil
}

// unwrap returns a data key that decrypts.
func (c *Cipher) unwrap(w wrappedKey) (cipher.AEAD, error) {
	aead, ok := c.decrypts.get(w)
	if s := c.suspended.Load(); s != nil && (!ok || c.now().Sub(s.since) >= decryptsFor) {
		return nil, s
	}
	if ok {
		return aead, nil
	}
	return c.unwrapAnew(w)
}

// unwrapAnew unwraps and remembers a data key.
func (c *Cipher) unwrapAnew(w wrappedKey) (cipher.AEAD, error) {
	k := c.ring.Find(w.key)
	if k == nil {
		return nil, fmt.Errorf("%w: %w: its id begins with %x", ErrUnreadable, keyring.ErrNoKey, w.key)
	}
	value, err := k.Unwrap(w.wrapped[:], useOf(w.queue))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	c.unwrapped()
	aead := newGCM(value)
	c.decrypts.put(w, aead)
	return aead, nil
}
