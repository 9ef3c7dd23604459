package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// holdLimit is for how long messages are held back at most, should nobody be there
// any more to let them go.
const holdLimit = 60 * time.Second

// gate is what messages on their way to another shard go through. It is held shut
// while somebody makes a snapshot of several shards: a message that goes meanwhile
// from one that is still to come to one that was there could be in neither.
type gate struct {
	mu      sync.Mutex
	holds   map[uint64]*time.Timer
	passing int
	changed chan struct{} // closed when there may be something new for those who wait
}

func newGate() *gate {
	return &gate{holds: make(map[uint64]*time.Timer), changed: make(chan struct{})}
}

// pass waits until the gate is open. The caller is through when it calls leave.
func (g *gate) pass(ctx context.Context) (leave func(), err error) {
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

// hold shuts the gate, and returns when nobody is passing any more. It is shut until
// release is called with the same number, or the limit is over.
func (g *gate) hold(ctx context.Context, id uint64, limit time.Duration) error {
	g.mu.Lock()
	g.holds[id] = time.AfterFunc(limit, func() { g.release(id) })
	g.mu.Unlock()
	err := g.wait(ctx, func() bool { return g.passing == 0 }, func() {})
	if err != nil {
		g.release(id)
	}
	return err
}

// release reports whether the gate has been held under that number till now.
func (g *gate) release(id uint64) bool {
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

// wait waits for a condition and then, before anybody else comes in, calls f.
func (g *gate) wait(ctx context.Context, condition func() bool, f func()) error {
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

func (g *gate) tell() {
	close(g.changed)
	g.changed = make(chan struct{})
}

// Messages between nodes about their gates.
const (
	kindHold    = "hold"
	kindRelease = "release"
)

// handleHolds answers other nodes.
func (n *Node) handleHolds() {
	n.messages.Handle(kindHold, func(ctx context.Context, message []byte) ([]byte, error) {
		id, err := holdID(message)
		if err == nil {
			err = n.forwarding.hold(ctx, id, holdLimit)
		}
		return nil, err
	})
	n.messages.Handle(kindRelease, func(_ context.Context, message []byte) ([]byte, error) {
		id, err := holdID(message)
		if err == nil && !n.forwarding.release(id) {
			err = errNotHeld
		}
		return nil, err
	})
}

func holdID(message []byte) (id uint64, err error) { return id, json.Unmarshal(message, &id) }

var errNotHeld = errors.New("messages between shards were not held back all the time")

// holdTimeout is longer than a delivery may take that is under way.
const holdTimeout = 15 * time.Second

// holdAll shuts the gates of all nodes that are alive. Nodes that do not answer are not
// among held. release opens them again and returns an error unless all of them have
// been shut till then; it must be called in any case.
func (n *Node) holdAll(ctx context.Context) (held map[string]bool, release func() error) {
	ctx, cancel := context.WithTimeout(ctx, holdTimeout)
	defer cancel()
	id, err := json.Marshal(rand.Uint64())
	if err != nil {
		panic(err) // a number
	}
	held = make(map[string]bool)
	var mu sync.Mutex
	var all sync.WaitGroup
	live := n.view.live()
	for node := range live {
		all.Go(func() {
			_, err := n.messages.Request(ctx, node, kindHold, id)
			if err != nil {
				n.log.Debug("node does not hold messages back", "node", node, "error", err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			held[node] = true
		})
	}
	all.Wait()
	return held, func() error { return n.releaseAll(id, live, held) }
}

// releaseAll tells all who were asked, of whom only those have to answer who were held.
func (n *Node) releaseAll(id []byte, asked map[string]beat, held map[string]bool) (failed error) {
	ctx, cancel := context.WithTimeout(n.ctx, holdTimeout)
	defer cancel()
	var mu sync.Mutex
	var all sync.WaitGroup
	for node := range asked {
		all.Go(func() {
			_, err := n.messages.Request(ctx, node, kindRelease, id)
			if err != nil && held[node] {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, fmt.Errorf("node %s: %w", node, err))
			}
		})
	}
	all.Wait()
	return failed
}

// deliver is how messages get from this node's shards to others.
func (n *Node) deliver(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error {
	leave, err := n.forwarding.pass(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return n.router.Deliver(ctx, id, from, messages)
}
