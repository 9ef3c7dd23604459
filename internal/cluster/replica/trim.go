package replica

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// Need describes how much of the log one replica of a shard still needs.
type Need struct {
	// Durable is the position up to which its store has flushed; 0 if unknown.
	Durable sharedlog.Position
	// Live means that the replica follows the log now. Other replicas will get a checkpoint.
	Live bool
}

// TrimPoint returns the position up to which a log may be trimmed: a majority of the replicas in set have flushed up to
// it, and no live replica needs the records before it. If the log takes more than bound bytes, live replicas that are
// behind do not count: they will get a checkpoint.
//
// The last record stays, because it shows where the log ends. After a loss of power, a copy without any record of a log
// on its disk may not know the log's end. If this happens to all copies, each waits for another one that knows.
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
	if log.Last > 0 {
		p = min(p, log.Last-1)
	}
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

// A log is trimmed in steps, with pauses for appends.
const (
	trimStep  = 1000
	trimPause = 20 * time.Millisecond
)

// Trim removes the log up to a position, which TrimPoint has given, but nothing that this replica has not flushed.
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
			if err := wait.For(ctx, trimPause); err != nil {
				return err
			}
		}
		if err := r.o.Log.Trim(ctx, min(to, p+trimStep-1)); err != nil {
			return fmt.Errorf("trim: %w", err)
		}
	}
	return nil
}
