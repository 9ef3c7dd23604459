package cluster

import (
	"context"
	"sync"
)

// coalescer runs a function once for all concurrent callers. A caller that arrives during a run waits for the next run,
// because the event it asks about may have happened after the current run began.
type coalescer struct {
	mu   sync.Mutex
	now  *run
	next *run
}

type run struct {
	done chan struct{}
	err  error
}

// do returns the result of a run of f that began after the call. It returns the error of ctx if ctx ends first.
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
