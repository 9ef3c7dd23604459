package budget

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/tool/fairshare"
)

// Limits of one request.
const (
	// MaxWork is the maximum number of samples or records that a request reads and computes, including intermediate
	// ones. 500 metrics over the 15 months that are kept are 22.4 million.
	MaxWork = 25_000_000
	// MaxTime is the maximum duration of a request.
	MaxTime = 30 * time.Second
	// Light is the work of a request that does not wait for others of its account: some milliseconds.
	Light = 200_000
)

// requests is more requests than there are.
const requests = 1 << 30

// Size is the default memory of all requests together, in bytes.
const Size = 256 << 20

// ErrBusy reports that other requests hold the memory that a request needs. The client may retry later.
var ErrBusy = errors.New("other requests for history take up the memory that there is for them")

// Excess reports the limit that a request has reached. A retry fails in the same way.
type Excess struct {
	Most int64
	Of   string // in the plural
}

func (e *Excess) Error() string {
	return fmt.Sprintf("the request needs more than %d %s", e.Most, e.Of)
}

// Budget is the memory that all requests share. Its methods are safe for concurrent use.
type Budget struct {
	size  int64
	turns *fairshare.Places // of requests that work long

	mu   sync.Mutex
	held map[string]int64 // by account; no entries of 0
	all  int64            // the sum of held
}

// New returns a budget of that many bytes.
func New(size int64) *Budget {
	turns := fairshare.New(fairshare.Options{Places: requests, Each: AtOnce()})
	return &Budget{size: size, turns: turns, held: make(map[string]int64)}
}

// AtOnce returns how many requests of an account may work at a time when each has done Light already: as many as half
// of the processors. The other half remain for all else.
func AtOnce() int { return max(1, runtime.GOMAXPROCS(0)/2) }

// Begin returns the context of a request of an account, and a function that ends the request and frees everything that
// it holds.
func (b *Budget) Begin(ctx context.Context, account string) (context.Context, func()) {
	late := &Excess{int64(MaxTime / time.Second), "seconds"}
	ctx, cancel := context.WithTimeoutCause(ctx, MaxTime, late)
	r := &Request{budget: b, account: account}
	ctx = context.WithValue(ctx, key{}, r)
	r.ctx = ctx
	return ctx, func() {
		cancel()
		r.Release(r.Held())
		r.leave()
	}
}

// take adds n bytes to what an account holds, or returns ErrBusy.
func (b *Budget) take(account string, n int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held[account]+n > b.size-b.all-n {
		return ErrBusy
	}
	b.add(account, n)
	return nil
}

func (b *Budget) free(account string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(account, -n)
}

func (b *Budget) add(account string, n int64) {
	b.all += n
	if b.held[account] += n; b.held[account] == 0 {
		delete(b.held, account)
	}
}

// Held returns how many bytes all requests currently hold.
func (b *Budget) Held() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all
}
