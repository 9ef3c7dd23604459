package front

import (
	"context"
	"sync"
	"time"
)

// paced runs a function for many callers together: one run at a time, and at most once per interval. Each caller gets
// the result of a run that began after its call.
type paced struct {
	run   func(context.Context) error
	every time.Duration

	mu   sync.Mutex
	next *round // that has not begun; nil: no caller waits for one
	last time.Time
	one  chan struct{} // held by the current round
}

// round is one run.
type round struct {
	over chan struct{}
	err  error
}

func newPaced(run func(context.Context) error, every time.Duration) *paced {
	return &paced{run: run, every: every, one: make(chan struct{}, 1)}
}

func (p *paced) do(ctx context.Context) error {
	p.mu.Lock()
	r := p.next
	if r == nil {
		r = &round{over: make(chan struct{})}
		p.next = r
		time.AfterFunc(p.every-time.Since(p.last), func() { p.begin(r) })
	}
	p.mu.Unlock()
	select {
	case <-r.over:
		return r.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (p *paced) begin(r *round) {
	p.one <- struct{}{}
	defer func() { <-p.one }()
	p.mu.Lock()
	p.next, p.last = nil, time.Now()
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), catchUpTimeout)
	defer cancel()
	r.err = p.run(ctx)
	close(r.over)
}
