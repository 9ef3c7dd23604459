package budget

import (
	"context"
	"math"
	"sync"
)

type key struct{}

// Of returns the request of a context, or nil.
func Of(ctx context.Context) *Request {
	r, _ := ctx.Value(key{}).(*Request)
	return r
}

// Request counts the work of one request. Its methods are safe for concurrent use. A nil Request has no limits.
type Request struct {
	budget  *Budget
	account string
	ctx     context.Context

	mu     sync.Mutex
	work   int64
	effort int64 // as samples that take as long as the work
	held   int64

	once sync.Once // begins when the work is no longer light
	give func()    // ends the turn of the request
	late error     // why it has none
}

// Work counts n samples or records before they are read or computed. It returns an *Excess if that exceeds the limit,
// or the reason if the request has ended. A request that is no longer light waits for its turn.
func (r *Request) Work(n int) error { return r.spend(n, 1) }

// recordEffort is how many samples take as long as a record that is decoded.
const recordEffort = 100

// Decode is Work for n records that are decoded.
func (r *Request) Decode(n int) error { return r.spend(n, recordEffort) }

// spend counts n samples or records, each with an effort.
func (r *Request) spend(n, effort int) error {
	if r == nil {
		return nil
	}
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	light, err := r.count(n, effort)
	if err != nil || light {
		return err
	}
	r.once.Do(func() { r.give, r.late = r.budget.turns.Take(r.ctx, r.account) })
	return r.late
}

// count adds n to the work, and reports whether that is light.
func (r *Request) count(n, effort int) (light bool, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.work = sum(r.work, n); r.work > MaxWork {
		return false, &Excess{MaxWork, "samples"}
	}
	r.effort += int64(n) * int64(effort) // n is within the limit
	return r.effort <= Light, nil
}

// leave ends the turn of the request.
func (r *Request) leave() {
	r.once.Do(func() { r.late = context.Canceled }) // from now on it gets none
	if r.give != nil {
		r.give()
	}
}

// Hold counts n bytes before they are allocated. It returns ErrBusy if they are not free, and an *Excess if the request
// can never get that much.
func (r *Request) Hold(n int) error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if most := r.budget.size / 2; sum(r.held, n) > most {
		return &Excess{most, "bytes of memory"}
	}
	if err := r.budget.take(r.account, int64(n)); err != nil {
		return err
	}
	r.held += int64(n)
	return nil
}

// Release returns n bytes that Hold has counted.
func (r *Request) Release(n int) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	n = min(n, int(r.held))
	r.held -= int64(n)
	r.budget.free(r.account, int64(n))
}

// Held returns how many bytes the request holds.
func (r *Request) Held() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.held)
}

// Worked returns how many samples and records the request has read and computed.
func (r *Request) Worked() int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return int(r.work)
}

// sum adds without overflow. A negative n, the result of an overflow before, counts as more than any limit.
func sum(a int64, n int) int64 {
	if n < 0 || int64(n) > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + int64(n)
}
