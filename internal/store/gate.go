package store

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
)

// ErrClosed reports that a store was closed before the read. In a cluster a checkpoint replaces a store while the
// program runs, and readers find the new one in the same place.
var ErrClosed = errors.New("the store is closed")

// gate lets a store be closed while others read it: Close waits for the reads in progress, and later ones fail. It is
// not a lock, because a read may begin another read, which must not wait for a Close that waits for the first.
type gate struct {
	reads atomic.Int64 // reads in progress; negative once the gate is shut
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

// shut admits no more reads, and waits for those in progress. Call it once.
func (g *gate) shut() {
	if g.reads.Add(shutGate) == shutGate {
		g.once.Do(func() { close(g.idle) })
	}
	<-g.idle
}
