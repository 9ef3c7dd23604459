package store

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
)

// ErrClosed says that a store was closed before it was read. In a cluster a checkpoint replaces a store while the
// program runs, and its readers find the next one where they found this one.
var ErrClosed = errors.New("the store is closed")

// gate lets a store be closed while others read it: Close waits for the reads under way, and later ones fail. It is not
// a lock, because a read may begin another one, which must not wait for a Close that waits for the first.
type gate struct {
	reads atomic.Int64 // under way; below 0 once the gate is shut
	idle  chan struct{}
	once  sync.Once
}

const shutGate = math.MinInt64 / 2

func newGate() *gate { return &gate{idle: make(chan struct{})} }

// enter begins a read, which ends with leave. It returns false if the gate is shut.
func (g *gate) enter() bool {
	if g.reads.Add(1) > 0 {
		return true
	}
	g.leave()
	return false
}

func (g *gate) leave() {
	if g.reads.Add(-1) == shutGate {
		g.once.Do(func() { close(g.idle) })
	}
}

// shut lets no read begin any more, and waits for those under way. It is called once.
func (g *gate) shut() {
	if g.reads.Add(shutGate) == shutGate {
		g.once.Do(func() { close(g.idle) })
	}
	<-g.idle
}
