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
		_ = b.catchUp(b.ctx) // current says so if it goes on failing
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
		b.passed.Store(began.UnixNano())
		return nil
	})
}

// ErrCutOff says that a node has lost touch with the others.
var ErrCutOff = errors.New("this node has no connection to the others")

// current returns ErrCutOff if what this node knows of queues and users may be
// out of date.
func (b *barrier) current() error {
	bound := staleAfter
	if live, all := len(b.members.view.live()), len(b.records.allNodes()); 2*live <= all {
		bound = isolatedAfter
	}
	if time.Since(time.Unix(0, b.passed.Load())) > bound {
		return ErrCutOff
	}
	return nil
}
