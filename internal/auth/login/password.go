package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// What a hash takes. Hashes that were made with other numbers stay good: they say theirs.
const (
	hashMemory  = 19 << 10 // KiB
	hashPasses  = 2
	hashThreads = 1
	hashSize    = 32
	saltSize    = 16
)

// Hashes made elsewhere do not take more than this.
const (
	mostMemory = 128 << 10 // KiB
	mostPasses = 10
)

const (
	// atOnce is how many hashes are computed at a time.
	atOnce = 2
	// mostWaiting is how many more wait for that.
	mostWaiting = 32
)

// ErrBusy says that too many passwords are being looked at.
var ErrBusy = errors.New("too many passwords are being looked at")

// Hasher hashes passwords, a few at a time. Its methods may be called from any goroutine.
type Hasher struct {
	places  chan struct{} // has an element for each who computes or waits
	running chan struct{} // has an element for each who computes
}

// NewHasher returns a Hasher.
func NewHasher() *Hasher {
	return &Hasher{make(chan struct{}, atOnce+mostWaiting), make(chan struct{}, atOnce)}
}

// turn calls f when it is its turn.
func (h *Hasher) turn(ctx context.Context, f func()) error {
	select {
	case h.places <- struct{}{}:
		defer func() { <-h.places }()
	default:
		return ErrBusy
	}
	select {
	case h.running <- struct{}{}:
		defer func() { <-h.running }()
	case <-ctx.Done():
		return ctx.Err()
	}
	f()
	return nil
}

// Hash returns the hash of a password:
//
//	$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH    salt and hash in base64 without padding
func (h *Hasher) Hash(ctx context.Context, password string) (text string, err error) {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	err = h.turn(ctx, func() {
		sum := argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, hashThreads, hashSize)
		enc := base64.RawStdEncoding
		text = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashPasses, hashThreads, enc.EncodeToString(salt), enc.EncodeToString(sum))
	})
	return text, err
}

// decoy is what a password is compared with where there is none, so that it takes as long: the hash of a random one.
const decoy = "$argon2id$v=19$m=19456,t=2,p=1$c2x1aWNlIGRlY295IHNhbA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// Verify reports whether a password is the one that was hashed. With an empty hash it takes as long, and it is not.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (right bool, err error) {
	known := hash != ""
	if !known {
		hash = decoy
	}
	p, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	err = h.turn(ctx, func() {
		sum := argon2.IDKey([]byte(password), p.salt, p.passes, p.memory, p.threads, uint32(len(p.sum)))
		right = subtle.ConstantTimeCompare(sum, p.sum) == 1 && known
	})
	return right, err
}

type parsedHash struct {
	memory, passes uint32
	threads        uint8
	salt, sum      []byte
}

var errHash = errors.New("this is no hash of a password that this program knows")

func parseHash(text string) (p parsedHash, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, errHash
	}
	if n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.passes, &p.threads); n != 3 || err != nil {
		return p, errHash
	}
	var err2 error
	p.salt, err = base64.RawStdEncoding.Strict().DecodeString(parts[4])
	p.sum, err2 = base64.RawStdEncoding.Strict().DecodeString(parts[5])
	if err != nil || err2 != nil || p.memory < 8*uint32(p.threads) || p.memory > mostMemory || p.passes < 1 || p.passes > mostPasses ||
		p.threads < 1 || len(p.salt) < 8 || len(p.sum) < 16 || len(p.sum) > 64 {
		return p, errHash
	}
	return p, nil
}
