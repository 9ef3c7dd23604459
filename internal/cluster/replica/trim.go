package replica

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// Need is what one replica of a shard still needs of the log.
type Need struct {
	// Durable is up to where its store outlives a crash; 0 if that is not known.
	Durable sharedlog.Position
	// Live says that the replica is there and follows. Others will get a checkpoint.
	Live bool
}

// TrimPoint returns up to where a log may be forgotten: what a majority of the
// replicas, all of which are to be in set, have on stable storage, and no live one
// needs. If the log takes more than bound bytes, live ones that are behind have to
// do with a checkpoint too.
func TrimPoint(set []Need, log sharedlog.Extent, bound int64) sharedlog.Position {
	if len(set) == 0 {
		return 0
	}
	var durable []sharedlog.Position
	for _, n := range set {
		durable = append(durable, n.Durable)
	}
	slices.Sort(durable)
	p := durable[(len(set)-1)/2] // it and those behind it are a majority
	if log.Bytes > bound {
		return p
	}
	for _, n := range set {
		if n.Live {
			p = min(p, n.Durable)
		}
	}
	return p
}

// A log is trimmed in steps, with pauses for appends in between.
const (
	trimStep  = 1000
	trimPause = 20 * time.Millisecond
)

// Trim forgets the log up to a position, which TrimPoint has given. It never goes
// past what this replica has on stable storage.
func (r *Replica) Trim(ctx context.Context, to sharedlog.Position) error {
	durable, err := r.Durable()
	if err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	to = min(to, durable)
	_, extent, err := r.o.Log.Read(ctx, r.Position()+1)
	if err != nil {
		return fmt.Errorf("trim: %w", err)
	}
	for p := extent.First; p <= to; p += trimStep {
		if p > extent.First {
			select {
			case <-time.After(trimPause):
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		if err := r.o.Log.Trim(ctx, min(to, p+trimStep-1)); err != nil {
			return fmt.Errorf("trim: %w", err)
		}
	}
	return nil
}
