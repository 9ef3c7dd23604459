package login

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"golang.org/x/crypto/argon2"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// The cost of a hash. Hashes with other parameters stay valid: they contain their own.
const (
	hashMemory  = 19 << 10 // KiB
	hashPasses  = 2
	hashThreads = 1
	hashSize    = 32
	saltSize    = 16
)

// Hashes made elsewhere must not cost more than this.
const (
	mostMemory = 128 << 10 // KiB
	mostPasses = 10
)

const (
	// atOnce is the number of simultaneous hash computations.
	atOnce = 2
	// mostWaiting is how many more may wait. An account may use at most as many of both as it leaves free: alone, it
	// has half.
	mostWaiting = 32
)

// ErrBusy reports that too many passwords are being checked.
var ErrBusy = errors.New("too many passwords are being looked at")

// Hasher hashes passwords, a few at a time. Accounts take turns; the empty account stands for all accounts that do not
// exist. Its methods are safe for concurrent use.
type Hasher struct {
	running *fairshare.Places

	mu       sync.Mutex
	accounts map[string]int // by account: how many compute or wait
	all      int
}

// NewHasher returns a Hasher.
func NewHasher() *Hasher {
	return &Hasher{running: fairshare.New(fairshare.Options{Places: atOnce}), accounts: make(map[string]int)}
}

// enter admits one more computation or waiter of an account, unless it has as many as it leaves free.
func (h *Hasher) enter(account string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.accounts[account] >= atOnce+mostWaiting-h.all {
		return false
	}
	h.accounts[account]++
	h.all++
	return true
}

func (h *Hasher) leave(account string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all--
	if h.accounts[account]--; h.accounts[account] == 0 {
		delete(h.accounts, account)
	}
}

// turn calls f when it is the account's turn.
func (h *Hasher) turn(ctx context.Context, account string, f func()) error {
	if !h.enter(account) {
		return ErrBusy
	}
	defer h.leave(account)
	give, err := h.running.Take(ctx, account)
	if err != nil {
		return err
	}
	defer give()
	f()
	return nil
}

// Hash returns the hash of a password of a user of an account:
//
//	$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH    salt and hash in base64 without padding
func (h *Hasher) Hash(ctx context.Context, account, password string) (text string, err error) {
	salt := make([]byte, saltSize)
	rand.Read(salt)
	err = h.turn(ctx, account, func() {
		sum := argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, hashThreads, hashSize)
		enc := base64.RawStdEncoding
		text = fmt.Sprintf(
			"$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
			argon2.Version,
			hashMemory,
			hashPasses,
			hashThreads,
			enc.EncodeToString(salt),
			enc.EncodeToString(sum),
		)
	})
	return text, err
}

// decoy is the hash of a random password. A password is compared with it if the user has none, so that the check takes
// as long.
const decoy = "$argon2id$v=19$m=19456,t=2,p=1$c2x1aWNlIGRlY295IHNhbA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

// Verify reports whether a password of a user of an account matches the hash. With an empty hash it takes the same
// time, and returns false.
func (h *Hasher) Verify(ctx context.Context, account, hash, password string) (right bool, err error) {
	known := hash != ""
	if !known {
		hash = decoy
	}
	p, err := parseHash(hash)
	if err != nil {
		return false, err
	}
	err = h.turn(ctx, account, func() {
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
	if err != nil || err2 != nil || p.memory < 8*uint32(p.threads) || p.memory > mostMemory || p.passes < 1 ||
		p.passes > mostPasses ||
		p.threads < 1 || len(p.salt) < 8 || len(p.sum) < 16 || len(p.sum) > 64 {
		return p, errHash
	}
	return p, nil
}
