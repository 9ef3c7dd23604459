package cluster

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// barrier blocks callers until this node's control store contains everything in the control shard's log, so it is as
// current as any other node's.
type barrier struct {
	*common
	control *controlShardReplica
	members *membership
	reads   coalescer
	passed  atomic.Pointer[moment] // this node knows every decision made before; nil: none
}

// run checks periodically whether this node knows every decision.
func (b *barrier) run() {
	again := time.NewTicker(catchUpInterval)
	defer again.Stop()
	for {
		if end, ok := b.control.vouch(); ok {
			b.told(end, time.Now())
		}
		if b.age(momentOf(time.Now())) >= catchUpInterval {
			_ = b.catchUp(b.ctx) // current reports an error that persists
		}
		select {
		case <-again.C:
		case <-b.ctx.Done():
			return
		}
	}
}

// catchUp waits until this node has applied everything that was in the control shard's log at the time of the call.
// Concurrent callers share one read of the log.
func (b *barrier) catchUp(ctx context.Context) error {
	return b.reads.do(ctx, func() error {
		ctx, cancel := context.WithTimeout(b.ctx, catchUpTimeout)
		defer cancel()
		began := time.Now()
		_, extent, err := b.control.log.Read(ctx, b.control.replica.Position()+1)
		if err != nil && !errors.Is(err, sharedlog.ErrTrimmed) {
			return fmt.Errorf("the control shard's log cannot be read: %w", err)
		}
		if err := b.control.replica.Wait(ctx, extent.Last); err != nil {
			return fmt.Errorf("the control shard is behind its log: %w", err)
		}
		b.pass(began)
		return nil
	})
}

// told records the end of the control shard's log, as its owner reported it after a moment. This usually saves the node
// its own read of the log, which costs every node a log entry.
//
// The owner vouches for the end that it has applied. It holds the lease, so no other node can have claimed the shard,
// and the owner has applied every change that a client has seen acknowledged.
func (b *barrier) told(end sharedlog.Position, at time.Time) {
	if b.control.replica.Position() >= end {
		b.pass(at)
	}
}

// pass records that this node knows every decision made before a moment.
func (b *barrier) pass(at time.Time) {
	m := momentOf(at)
	for {
		passed := b.passed.Load()
		if passed != nil && passed.running >= m.running || b.passed.CompareAndSwap(passed, &m) {
			return
		}
	}
}

// age returns how long ago this node last knew every decision.
func (b *barrier) age(now moment) time.Duration {
	if passed := b.passed.Load(); passed != nil {
		return now.since(*passed)
	}
	return math.MaxInt64
}

// ErrCutOff reports that a node has lost contact with the others.
var ErrCutOff = errors.New("this node has no connection to the others")

// current returns ErrCutOff if this node's knowledge of queues and users may be out of date.
func (b *barrier) current() error { return b.currentAt(momentOf(time.Now())) }

func (b *barrier) currentAt(now moment) error {
	bound := staleAfter
	if live, all := len(b.members.view.live()), len(b.records.allNodes()); 2*live <= all {
		bound = b.times.isolated
	}
	if b.age(now) > bound {
		return ErrCutOff
	}
	return nil
}
