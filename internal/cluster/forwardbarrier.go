package cluster

import (
	"context"
	"sync"
	"time"
)

// forwardBarrier controls the messages that move to another shard, and what purges say of them; see ownedShard. A node
// that makes a snapshot of several shards keeps it shut: otherwise a message that moves between two shards meanwhile
// could be in neither snapshot.
type forwardBarrier struct {
	mu      sync.Mutex
	holds   map[uint64]*time.Timer
	passing int
	changed chan struct{} // closed when waiters should check again
}

func newForwardBarrier() *forwardBarrier {
	return &forwardBarrier{holds: make(map[uint64]*time.Timer), changed: make(chan struct{})}
}

// pass waits until the barrier is open. The caller must then call leave when its message has arrived.
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

// hold shuts the barrier, and returns when no message is passing any more. The barrier stays shut until release is
// called with the same number, or until the limit is over.
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

// release opens the barrier. It reports whether the barrier was held under that number until now.
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

// wait waits for a condition, and then calls f before anything else changes.
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
