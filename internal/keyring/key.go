package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// KeySize is the size of a key of the ring, and of a data key, in bytes.
const KeySize = 32

// WrappedSize is the size of a wrapped data key in bytes: a nonce, the encrypted key and a tag.
const WrappedSize = 12 + KeySize + 16

// ErrDamaged reports that a wrapped data key was changed, or was wrapped for another use.
var ErrDamaged = errors.New("the data key cannot be unwrapped: it is damaged, or was stored in another place")

// ShortID is the beginning of a key's id, by which wrapped data keys name the key.
type ShortID [8]byte

// Key is a key of the ring. It is immutable. A sealed key that is not open has an id only, and must not wrap or unwrap.
type Key struct {
	id     [16]byte
	made   time.Time
	value  [KeySize]byte
	wraps  cipher.AEAD // nil: the key is not open
	sealed []byte      // the value, sealed by a key service; nil: it is not sealed
}

// newKey returns the key with a value.
func newKey(value [KeySize]byte, made time.Time) *Key {
	sum := sha256.Sum256(append([]byte("sluice encryption key id 1\x00"), value[:]...))
	k := &Key{made: made, value: value, wraps: newAEAD(value[:])}
	copy(k.id[:], sum[:])
	k.id[6] = k.id[6]&0x0f | 0x80 // a UUID of version 8 (RFC 9562)
	k.id[8] = k.id[8]&0x3f | 0x80
	return k
}

// generate makes a key.
func generate(now time.Time) *Key {
	var value [KeySize]byte
	rand.Read(value[:])
	return newKey(value, now.UTC().Truncate(time.Second))
}

// newAEAD returns AES-256-GCM with random nonces, which it writes before the ciphertext.
func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for other sizes
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // only for other block sizes
	}
	return aead
}

// ID returns the id, a UUID.
func (k *Key) ID() string { return uuid.UUID(k.id).String() }

// Short returns the beginning of the id.
func (k *Key) Short() ShortID { return ShortID(k.id[:8]) }

// Made returns the creation time of the key, in seconds.
func (k *Key) Made() time.Time { return k.made }

// Wrap returns a data key of KeySize bytes in WrappedSize bytes. Unwrap accepts it only for the same use.
func (k *Key) Wrap(data, use []byte) []byte {
	return k.wraps.Seal(make([]byte, 0, WrappedSize), nil, data, use)
}

// Unwrap returns the data key that Wrap has wrapped. The error is ErrDamaged.
func (k *Key) Unwrap(wrapped, use []byte) ([]byte, error) {
	data, err := k.wraps.Open(nil, nil, wrapped, use)
	if err != nil || len(data) != KeySize {
		return nil, fmt.Errorf("key %s: %w", k.ID(), ErrDamaged)
	}
	return data, nil
}
