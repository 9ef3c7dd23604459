package cluster

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// barrier holds up who has to know what the other nodes know: until this node's control
// store has all that is in the control shard's log.
type barrier struct {
	*common
	control *controlShardReplica
	members *membership
	reads   coalescer
	passed  atomic.Int64 // Unix nanoseconds of the latest moment of which it knows all that was decided before
}

// run finds out every so often whether this node knows all that was decided.
func (b *barrier) run() {
	again := time.NewTicker(catchUpInterval)
	defer again.Stop()
	for {
		if end, ok := b.control.vouch(); ok {
			b.told(end, time.Now())
		}
		if time.Since(time.Unix(0, b.passed.Load())) >= catchUpInterval {
			_ = b.catchUp(b.ctx) // current says so if it goes on failing
		}
		select {
		case <-again.C:
		case <-b.ctx.Done():
			return
		}
	}
}

// catchUp waits until this node has applied all that was in the control shard's log when
// it was called. All who wait at a time share a look at the log.
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

// told takes in that the owner of the control shard has said, after a moment, how far its log goes. Most of the time
// that spares this node the look at the log, which costs an entry in it on every node.
//
// The owner vouches for what it has applied. It holds the lease, so no other node can have claimed the shard, and what
// it has not applied was acknowledged to no client.
func (b *barrier) told(end sharedlog.Position, at time.Time) {
	if b.control.replica.Position() >= end {
		b.pass(at)
	}
}

// pass notes that this node knows all that was decided before a moment.
func (b *barrier) pass(at time.Time) {
	for {
		passed := b.passed.Load()
		if passed >= at.UnixNano() || b.passed.CompareAndSwap(passed, at.UnixNano()) {
			return
		}
	}
}

// ErrCutOff says that a node has lost touch with the others.
var ErrCutOff = errors.New("this node has no connection to the others")

// current returns ErrCutOff if what this node knows of queues and users may be
// out of date.
func (b *barrier) current() error {
	bound := staleAfter
	if live, all := len(b.members.view.live()), len(b.records.allNodes()); 2*live <= all {
		bound = b.times.isolated
	}
	if time.Since(time.Unix(0, b.passed.Load())) > bound {
		return ErrCutOff
	}
	return nil
}
