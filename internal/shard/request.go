package shard

import (
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

// work is the part of a request that uses the engine.
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

func (r *request) answer(err error) {
	if r.poll != nil {
		r.poll.answer(err)
		return
	}
	r.err = err
	close(r.done)
}
