package cluster

import (
	"context"
	"sync"
	"time"
)

// forwardBarrier is what messages on their way to another shard go through. It is held shut
// while a node makes a snapshot of several shards: a message that goes meanwhile
// from one that is still to come to one that was there could be in neither.
type forwardBarrier struct {
	mu      sync.Mutex
	holds   map[uint64]*time.Timer
	passing int
	changed chan struct{} // closed when there may be something new for those who wait
}

func newForwardBarrier() *forwardBarrier {
	return &forwardBarrier{holds: make(map[uint64]*time.Timer), changed: make(chan struct{})}
}

// pass waits until the forwardBarrier is open. The caller is through when it calls leave.
func (g *forwardBarrier) pass(ctx context.Context) (leave func(), err error) {
	if err := g.wait(ctx, func() bool { return len(g.holds) == 0 }, func() { g.passing++ }); err != nil {
		return nil, err
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.passing--
		g.tell()
	}, nil
}

// hold shuts the forwardBarrier, and returns when no message is passing any more. It is shut until
// release is called with the same number, or the limit is over.
func (g *forwardBarrier) hold(ctx context.Context, id uint64, limit time.Duration) error {
	g.mu.Lock()
	g.holds[id] = time.AfterFunc(limit, func() { g.release(id) })
	g.mu.Unlock()
	err := g.wait(ctx, func() bool { return g.passing == 0 }, func() {})
	if err != nil {
		g.release(id)
	}
	return err
}

// release reports whether the forwardBarrier has been held under that number till now.
func (g *forwardBarrier) release(id uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	timer, held := g.holds[id]
	if held {
		timer.Stop()
		delete(g.holds, id)
		g.tell()
	}
	return held
}

// wait waits for a condition and then, before anything else changes, calls f.
func (g *forwardBarrier) wait(ctx context.Context, condition func() bool, f func()) error {
	g.mu.Lock()
	for !condition() {
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		g.mu.Lock()
	}
	f()
	g.mu.Unlock()
	return nil
}

func (g *forwardBarrier) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}
