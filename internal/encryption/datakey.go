package encryption

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/keyring"
	"github.com/sluicemq/sluice/internal/queue"
)

// mostUses is the maximum number of parts encrypted under one data key.
const mostUses = 1 << 32

// dataKey encrypts, only in the process that has created it.
type dataKey struct {
	aead  cipher.AEAD
	head  []byte // of each part: the bytes before the counter
	made  time.Time
	queue queue.ID
	used  atomic.Uint64
}

// purpose identifies a data key: a queue, and the key that wraps it.
type purpose struct {
	queue queue.ID
	key   keyring.ShortID
}

// hash implements key. Ids of queues are spread by a multiplication (Knuth, 6.4).
func (p purpose) hash() uint64 {
	const golden = 0x9e3779b97f4a7c15
	return (uint64(p.queue) ^ binary.BigEndian.Uint64(p.key[:])) * golden
}

const partVersion = 1

// newDataKey creates and wraps a data key for a queue.
func newDataKey(k *keyring.Key, q queue.ID, now time.Time) (*dataKey, wrappedKey) {
	var value [keyring.KeySize]byte
	rand.Read(value[:])
	w := wrappedKey{purpose: purpose{q, k.Short()}}
	copy(w.wrapped[:], k.Wrap(value[:], useOf(q)))
	head := append(make([]byte, 0, 96), partVersion)
	head = append(head, w.key[:]...)
	head = binary.AppendUvarint(head, uint64(q))
	head = append(head, w.wrapped[:]...)
	return &dataKey{aead: newGCM(value[:]), head: head, made: now, queue: q}, w
}

// useOf returns the associated data that binds a data key to its queue.
func useOf(q queue.ID) []byte {
	return binary.BigEndian.AppendUint64([]byte("sluice data key 1"), uint64(q))
}

func newGCM(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic(err) // only for other sizes
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic(err) // only for other block sizes
	}
	return aead
}

// expired reports whether the key must not encrypt anymore.
func (d *dataKey) expired(now time.Time, period time.Duration) bool {
	return now.Sub(d.made) >= period || d.used.Load() >= mostUses
}

// tagSize is the size of a tag in bytes.
const tagSize = 16

// counterSize is the size of a counter in a part, in bytes. It is enough for mostUses, and for further uses while the
// key is renewed.
const counterSize = 5

// smallestPart is the size of a part without text, in bytes, for a queue with an id of one byte.
const smallestPart = 1 + len(keyring.ShortID{}) + 1 + keyring.WrappedSize + counterSize + tagSize

// length returns the length of a part, in bytes, for a text of the given length.
func (d *dataKey) length(text int) int { return len(d.head) + counterSize + text + tagSize }

// begin appends the bytes before the ciphertext of a part, and sets the part's unique nonce.
func (d *dataKey) begin(b []byte, nonce *[12]byte) []byte {
	counter := d.used.Add(1) - 1
	*nonce = nonceOf(counter)
	b = append(b, d.head...)
	return append(b, byte(counter>>32), byte(counter>>24), byte(counter>>16), byte(counter>>8), byte(counter))
}

// encrypt appends the bytes of a part, which belongs to a place.
func (d *dataKey) encrypt(b, text []byte, at place) []byte {
	s := newBuffer()
	defer s.release(nil)
	s.bound = boundTo(d.queue, at)
	b = d.begin(b, &s.nonce)
	return d.aead.Seal(b, s.nonce[:], text, s.bound[:])
}

// nonceOf returns the nonce of a counter.
func nonceOf(counter uint64) (nonce [12]byte) {
	binary.BigEndian.PutUint64(nonce[4:], counter)
	return nonce
}

// wrappedKey is a data key in the form of parts.
type wrappedKey struct {
	purpose
	wrapped [keyring.WrappedSize]byte
}

// hash implements key. A wrapped key begins with a random nonce.
func (w wrappedKey) hash() uint64 { return binary.BigEndian.Uint64(w.wrapped[:]) }

// sealedPart is a parsed encrypted part.
type sealedPart struct {
	wrappedKey
	counter    uint64
	ciphertext []byte
}

var errPart = errors.New("an encrypted part is malformed")

// takeApart parses the bytes of an encrypted part.
func takeApart(b []byte) (p sealedPart, err error) {
	if len(b) < 1+len(p.key) {
		return p, errPart
	}
	if b[0] != partVersion {
		return p, fmt.Errorf("an encrypted part is of version %d, which this program does not know", b[0])
	}
	b = b[1+copy(p.key[:], b[1:]):]
	q, n := binary.Uvarint(b)
	if n <= 0 || len(b) < n+len(p.wrapped) {
		return p, errPart
	}
	p.queue = queue.ID(q)
	b = b[n+copy(p.wrapped[:], b[n:]):]
	if len(b) < counterSize+tagSize {
		return p, errPart
	}
	for _, x := range b[:counterSize] {
		p.counter = p.counter<<8 | uint64(x)
	}
	p.ciphertext = b[counterSize:]
	return p, nil
}
