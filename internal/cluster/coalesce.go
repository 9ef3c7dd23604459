package cluster

import (
	"context"
	"sync"
)

// coalescer runs something once for all callers that ask for it at a time. A caller that
// asks while it runs waits for the next run, since what it asks about may have happened
// after this one began.
type coalescer struct {
	mu   sync.Mutex
	now  *run
	next *run
}

type run struct {
	done chan struct{}
	err  error
}

// do returns the result of a run of f that has begun after the call, or the error
// of ctx if that ends first.
func (j *coalescer) do(ctx context.Context, f func() error) error {
	j.mu.Lock()
	r := j.next
	if r == nil {
		r = &run{done: make(chan struct{})}
		if j.now == nil {
			j.now = r
			go j.run(r, f)
		} else {
			j.next = r
		}
	}
	j.mu.Unlock()
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (j *coalescer) run(r *run, f func() error) {
	for r != nil {
		r.err = f()
		close(r.done)
		j.mu.Lock()
		r, j.next = j.next, nil
		j.now = r
		j.mu.Unlock()
	}
}
