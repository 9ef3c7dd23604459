package router

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/shard"
)

const (
	// answerGrace is how long an answer is waited for when the owner has changed:
	// one that hands its shard over answers all before it does, long polls too.
	answerGrace = 300 * time.Millisecond
	// doubtTime is how long a shard is avoided, where there is a choice, after it
	// has left open what it has done: as long as it takes until it has another
	// owner if the present one has died.
	suspectTime = 5 * time.Second
	// Between attempts at a shard there is a pause, unless its owner changes.
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

var (
	errMoved = fmt.Errorf("%w: its owner has changed in the middle of the call", shard.ErrUnavailable)
	errSlow  = fmt.Errorf("%w: its owner does not answer in time", shard.ErrUnavailable)
)

// era is the time in which a shard has one owner, or none.
type ownerTerm struct {
	changed      <-chan struct{}
	over         context.Context
	end          context.CancelFunc
	suspectUntil atomic.Int64 // until then, in nanoseconds since 1970
}

// era returns the present one of shard n. It is to be asked for before the
// owner is: otherwise a change in between would go unseen.
func (r *Router) ownerTerm(n int) *ownerTerm {
	changed := r.Changed(n)
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.terms[n]
	if e != nil && e.changed == changed {
		return e
	}
	if e != nil {
		e.end()
	}
	e = &ownerTerm{changed: changed}
	e.over, e.end = context.WithCancel(context.Background())
	r.terms[n] = e
	go func() {
		select {
		case <-changed:
			e.end()
		case <-e.over.Done():
		case <-r.closed.Done():
		}
	}()
	return e
}

// doubtful reports whether a shard has lately left open what it has done.
func (e *ownerTerm) suspect() bool { return time.Now().UnixNano() < e.suspectUntil.Load() }

func (r *Router) suspect(n int) bool { return !r.Local(n) && r.ownerTerm(n).suspect() }

func (e *ownerTerm) note(err error) {
	switch {
	case err == nil:
		if e.suspectUntil.Load() != 0 {
			e.suspectUntil.Store(0)
		}
	case errors.Is(err, shard.ErrUnavailable) && !errors.Is(err, shard.ErrNotBegun):
		e.suspectUntil.Store(time.Now().Add(suspectTime).UnixNano())
	}
}

// during returns a context for a call to the owner of an era: it ends some time
// after the era.
func (e *ownerTerm) during(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(e.over, func() {
		time.AfterFunc(answerGrace, func() { cancel(errMoved) })
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// once calls shard n at its present owner. What is certain not to have begun is
// a shard.ErrNotBegun.
func callOnce[T any](ctx context.Context, r *Router, n int, f func(context.Context, Shard) (T, error)) (T, error) {
	var e *ownerTerm
	local := r.Local(n)
	if !local {
		e = r.ownerTerm(n)
	}
	s, err := r.Shard(n)
	if err != nil {
		var none T
		return none, fmt.Errorf("%w: shard %d: %w", shard.ErrNotBegun, n, err)
	}
	if local {
		return f(ctx, s)
	}
	ctx, done := e.during(ctx)
	defer done()
	got, err := f(ctx, s)
	e.note(err)
	return got, err
}

// ask calls shard n, at its next owner if it is certain that nothing has been
// done at the present one, and waits some time for there to be one.
func call[T any](ctx context.Context, r *Router, n int, f func(context.Context, Shard) (T, error)) (T, error) {
	return retryUntilOwned(ctx, r, []int{n}, func() (T, error) { return callOnce(ctx, r, n, f) })
}

// do is ask for what has no result.
func (r *Router) exec(ctx context.Context, n int, f func(context.Context, Shard) error) error {
	_, err := call(ctx, r, n, func(ctx context.Context, s Shard) (struct{}, error) { return struct{}{}, f(ctx, s) })
	return err
}

// insist repeats a try at some shards while it is certain that it has done
// nothing, for as long as the router's patience lasts: when one of them has
// another owner, or after a pause.
func retryUntilOwned[T any](ctx context.Context, r *Router, shards []int, try func() (T, error)) (T, error) {
	got, err := try()
	if !errors.Is(err, shard.ErrNotBegun) {
		return got, err
	}
	end := time.Now().Add(r.Timeout)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		eras := r.termsOf(shards)
		// Once more, in case that it has changed just before.
		if got, err = try(); !errors.Is(err, shard.ErrNotBegun) {
			return got, err
		}
		left := time.Until(end)
		if left <= 0 {
			return got, err
		}
		if waitForTerm(ctx, min(pause, left), eras...); ctx.Err() != nil {
			return got, context.Cause(ctx)
		}
	}
}

func (r *Router) termsOf(shards []int) []*ownerTerm {
	out := make([]*ownerTerm, len(shards))
	for i, n := range shards {
		out[i] = r.ownerTerm(n)
	}
	return out
}

// rest waits until one of the eras is over, but not for longer than d or after
// the end of ctx.
func waitForTerm(ctx context.Context, d time.Duration, eras ...*ownerTerm) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, e := range eras {
		defer context.AfterFunc(e.over, cancel)()
	}
	<-ctx.Done()
}
