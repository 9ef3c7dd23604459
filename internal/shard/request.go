package shard

import (
	"context"
	"fmt"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/queue"
)

// request is a task for the owner. work stores its results for the caller, who reads them when done is closed.
type request struct {
	work work
	poll *poll // the long poll that the request becomes if it finds nothing
	err  error
	done chan struct{}
	// begun is set by the owner when it begins the request, or by a caller that stops waiting earlier. In the latter
	// case the owner ignores the request.
	begun    atomic.Bool
	repeated bool // it has begun before, in a transaction that failed
}

// work is what a request does with the engine.
type work interface{ do(*queue.Engine) error }

// step is work without a result.
type step func(*queue.Engine) error

func (f step) do(e *queue.Engine) error { return f(e) }

func newRequest(f step) *request { return &request{work: f, done: make(chan struct{})} }

func (r *request) begin() bool { return r.begun.CompareAndSwap(false, true) }

// asking is a request with a result. Nearly all calls of clients are of this kind, so it is a single allocation.
type asking[T any] struct {
	request
	f   func(*queue.Engine) (T, error)
	got T // a caller that has stopped waiting must not read it: the owner may be writing it
}

func (a *asking[T]) do(e *queue.Engine) (err error) {
	a.got, err = a.f(e)
	return err
}

// call runs f in the owner, and waits until the effect is durable. Once the owner has begun the request, the end of ctx
// no longer ends the wait, because the caller must know whether the change was made. A blocked disk does end the wait,
// because it may stay blocked for any time.
func call[T any](ctx context.Context, s *Shard, f func(*queue.Engine) (T, error)) (T, error) {
	a := &asking[T]{request: request{done: make(chan struct{})}, f: f}
	a.work = a
	if err := s.await(ctx, s.Writable(), &a.request); err != nil {
		var none T
		return none, err
	}
	return a.got, a.err
}

// exec is call for a function without a result.
func (s *Shard) exec(ctx context.Context, f func(*queue.Engine) error) error {
	_, err := call(ctx, s, func(e *queue.Engine) (struct{}, error) { return struct{}{}, f(e) })
	return err
}

// execEvenIfBlocked is exec for changes that must be made eventually: it waits while the disk is blocked.
func (s *Shard) execEvenIfBlocked(ctx context.Context, f func(*queue.Engine) error) error {
	r := newRequest(f)
	if err := s.await(ctx, s.disk.Lifetime(), r); err != nil {
		return err
	}
	return r.err
}

// await sends r to the owner and waits for the answer, or returns why it stopped waiting, for example because ctx has
// ended.
func (s *Shard) await(ctx context.Context, c *Writable, r *request) error {
	if err := s.hand(ctx, c, r); err != nil {
		return err
	}
	select {
	case <-r.done:
		return nil
	case <-s.closed:
		// The owner may have answered just now.
		select {
		case <-r.done:
			return nil
		default:
		}
		if r.begin() { // the owner has not seen it
			return s.ended()
		}
		return ErrUnavailable
	case <-c.Blocked():
		if r.begin() { // the owner will now ignore it
			return notBegun(c)
		}
		return unavailable(c)
	}
}

// hand passes r to the owner, or returns why it does not.
func (s *Shard) hand(ctx context.Context, c *Writable, r *request) error {
	if c.Err() != nil {
		return notBegun(c)
	}
	select {
	case s.requests <- r: // there nearly always is room, and this attempt is cheap
		return nil
	default:
	}
	select {
	case s.requests <- r:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return s.ended()
	case <-c.Blocked():
		return notBegun(c)
	}
}

// unavailable is the error for callers who do not wait for a blocked disk.
func unavailable(c *Writable) error { return fmt.Errorf("%w: %w", ErrUnavailable, c.Err()) }

// notBegun is the error for callers whose requests the owner has not begun.
func notBegun(c *Writable) error { return fmt.Errorf("%w: %w", ErrNotBegun, c.Err()) }

// send sends a request to the owner and does not wait for the answer.
func (s *Shard) send(r *request) {
	select {
	case s.requests <- r:
	case <-s.closed:
	case <-s.Writable().Blocked():
	}
}

func (r *request) answer(err error) {
	if r.poll != nil {
		r.poll.answer(err)
		return
	}
	r.err = err
	close(r.done)
}
