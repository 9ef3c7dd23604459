package router

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/shard"
)

const (
	// answerGrace is how long a call waits for the old owner's answer when there is a new owner: before an owner hands
	// its shard over, it answers all calls, including long polls.
	answerGrace = 300 * time.Millisecond
	// suspectTime is how long a shard is avoided, where there is a choice, after a call with an unknown outcome. If its
	// owner has died, it has a new one after that time.
	suspectTime = 5 * time.Second
	// Limits of the pause between attempts at a shard. A change of its owner ends the pause.
	firstPause   = 20 * time.Millisecond
	longestPause = time.Second
)

var (
	errMoved = fmt.Errorf("%w: its owner has changed in the middle of the call", shard.ErrUnavailable)
	errSlow  = fmt.Errorf("%w: its owner does not answer in time", shard.ErrUnavailable)
)

// owners are the shards at their current owners, on any node, and the terms of these. Its methods are safe for
// concurrent use.
type owners struct {
	Options
	remote *remote.Caller
	closed context.Context // ends the waits for terms

	mu    sync.Mutex
	terms map[int]*ownerTerm
}

// shard returns shard n at its current owner.
func (o *owners) shard(n int) (Shard, error) {
	here, node, err := o.Owner(n)
	if here != nil || err != nil {
		return here, err
	}
	return o.remote.Shard(node, n), nil
}

// ownerTerm is the period in which a shard has one owner, or none.
type ownerTerm struct {
	changed      <-chan struct{}
	over         context.Context
	end          context.CancelFunc
	suspectUntil atomic.Int64 // in nanoseconds since 1970
}

// ownerTerm returns the current term of shard n. A caller must read it before it looks up the owner: otherwise it would
// miss a change in between.
func (o *owners) ownerTerm(n int) *ownerTerm {
	changed := o.Changed(n)
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.terms[n]
	if t != nil && t.changed == changed {
		return t
	}
	if t != nil {
		t.end()
	}
	t = &ownerTerm{changed: changed}
	t.over, t.end = context.WithCancel(context.Background())
	o.terms[n] = t
	go func() {
		select {
		case <-changed:
			t.end()
		case <-t.over.Done():
		case <-o.closed.Done():
		}
	}()
	return t
}

// suspect reports whether a recent call to the owner had an unknown outcome: the owner may have died.
func (t *ownerTerm) suspect() bool { return time.Now().UnixNano() < t.suspectUntil.Load() }

func (o *owners) suspect(n int) bool { return !o.Local(n) && o.ownerTerm(n).suspect() }

func (t *ownerTerm) note(err error) {
	switch {
	case err == nil:
		if t.suspectUntil.Load() != 0 {
			t.suspectUntil.Store(0)
		}
	case errors.Is(err, shard.ErrUnavailable) && !errors.Is(err, shard.ErrNotBegun):
		t.suspectUntil.Store(time.Now().Add(suspectTime).UnixNano())
	}
}

// during returns a context for a call to the owner of a term. It ends answerGrace after the term.
func (t *ownerTerm) during(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(t.over, func() {
		time.AfterFunc(answerGrace, func() { cancel(errMoved) })
	})
	return ctx, func() {
		stop()
		cancel(nil)
	}
}

// callOnce calls shard n at its current owner. If the call has certainly not begun, the error is a shard.ErrNotBegun.
func callOnce[T any](ctx context.Context, o *owners, n int, f func(context.Context, Shard) (T, error)) (T, error) {
	var t *ownerTerm
	local := o.Local(n)
	if !local {
		t = o.ownerTerm(n)
	}
	s, err := o.shard(n)
	if err != nil {
		var none T
		return none, fmt.Errorf("%w: shard %d: %w", shard.ErrNotBegun, n, err)
	}
	if local {
		return f(ctx, s)
	}
	ctx, done := t.during(ctx)
	defer done()
	got, err := f(ctx, s)
	t.note(err)
	return got, err
}

// call calls shard n. If the current owner has certainly done nothing, call tries the next one, and waits a limited
// time for it.
func call[T any](ctx context.Context, o *owners, n int, f func(context.Context, Shard) (T, error)) (T, error) {
	return retryUntilOwned(ctx, o, []int{n}, func() (T, error) { return callOnce(ctx, o, n, f) })
}

// exec is call for a call without result.
func (o *owners) exec(ctx context.Context, n int, f func(context.Context, Shard) error) error {
	_, err := call(ctx, o, n, func(ctx context.Context, s Shard) (struct{}, error) { return struct{}{}, f(ctx, s) })
	return err
}

// retryUntilOwned repeats try, which calls some shards, until Options.Timeout is over: when one of the shards gets
// another owner, and after each pause. It hides from clients that a shard changes its owner. Invariants:
//
//   - It repeats only calls that were certainly not executed: the error is a shard.ErrNotBegun. After any other failure
//     the call may have been executed, and a repetition could send a message twice or take one from another consumer;
//     the client decides about that.
//   - It misses no change of the owner. A term is the period of one owner, so it reads the terms before try looks up
//     the owners. If it read them afterwards, a change in between would start a new term, whose end may be hours away.
//
// The steps: try at once, which suffices for nearly every call and needs no terms. Then, in rounds: read the terms,
// try, and wait for the end of one of the terms or for the pause. The end of a term wakes the call as soon as this node
// learns of a new owner, or of the loss of the old one. The pause covers failures that end without a new owner: an
// owner that is still loading, or was unreachable for a moment. It doubles, so long waits cost little.
//
// A call to several shards is repeated as a whole. So if try calls several shards, one shard's ErrNotBegun must mean
// that none of them has begun.
func retryUntilOwned[T any](ctx context.Context, o *owners, shards []int, try func() (T, error)) (T, error) {
	got, err := try()
	if !errors.Is(err, shard.ErrNotBegun) {
		return got, err
	}
	end := time.Now().Add(o.Timeout)
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		terms := o.termsOf(shards)
		// Once more, in case the owner has changed just before.
		if got, err = try(); !errors.Is(err, shard.ErrNotBegun) {
			return got, err
		}
		left := time.Until(end)
		if left <= 0 {
			return got, err
		}
		if waitForTerm(ctx, min(pause, left), terms...); ctx.Err() != nil {
			return got, context.Cause(ctx)
		}
	}
}

func (o *owners) termsOf(shards []int) []*ownerTerm {
	out := make([]*ownerTerm, len(shards))
	for i, n := range shards {
		out[i] = o.ownerTerm(n)
	}
	return out
}

// waitForTerm waits until one of the terms is over, d has passed or ctx ends.
func waitForTerm(ctx context.Context, d time.Duration, terms ...*ownerTerm) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	for _, t := range terms {
		defer context.AfterFunc(t.over, cancel)()
	}
	<-ctx.Done()
}
