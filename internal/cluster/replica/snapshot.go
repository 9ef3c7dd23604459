package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// CatchUp waits until the store has applied everything that was in the log at the time of the call.
func (r *Replica) CatchUp(ctx context.Context) error {
	_, extent, err := r.o.Log.Read(ctx, r.Position()+1)
	if err != nil && !errors.Is(err, sharedlog.ErrTrimmed) {
		return fmt.Errorf("the log of shard %s cannot be read: %w", r.o.Name, err)
	}
	if err := r.Wait(ctx, extent.Last); err != nil {
		return fmt.Errorf("the replica of shard %s is behind its log: %w", r.o.Name, err)
	}
	return nil
}

// LogOwner names the owner of a shard, according to its log up to the end.
type LogOwner struct {
	Owner string
	Epoch uint64
	Owned bool
}

// CurrentOwner waits as CatchUp does, and then returns the owner of the shard.
func (r *Replica) CurrentOwner(ctx context.Context) (s LogOwner, err error) {
	if err := r.CatchUp(ctx); err != nil {
		return s, err
	}
	s.Owner, s.Epoch, s.Owned = r.Owner()
	return s, nil
}

// Snapshot makes a checkpoint of the store in dir, which must not exist, and returns the position of the log that it
// has reached.
func (r *Replica) Snapshot(dir string) (mark store.Mark, err error) {
	err = r.with(func(s *store.Store) error {
		_, err := s.Checkpoint(dir)
		return err
	})
	if err != nil {
		return mark, err
	}
	return r.markOf(dir)
}

// markOf returns the mark of a checkpoint. Records may have come while it was made, so only the checkpoint itself has
// it.
func (r *Replica) markOf(dir string) (mark store.Mark, err error) {
	o := r.o.Storage
	s, err := store.OpenReadOnly(dir, store.Options{Disk: o.Disk, Cache: o.Cache, Logger: o.Logger})
	if err != nil {
		return mark, err
	}
	return s.Mark(), s.Close()
}

// Elsewhere is a replica on another node, as the source of a snapshot. That node must offer it; see Offer.
type Elsewhere struct {
	download
	offer *checkpointOffer
}

// NewElsewhere returns the replica of a shard on a node.
func NewElsewhere(m messenger.Messenger, node, shard string) *Elsewhere {
	return &Elsewhere{download: download{messenger: m, node: node, kind: checkpointKind(shard)}}
}

// CurrentOwner is Replica.CurrentOwner on that node.
func (e *Elsewhere) CurrentOwner(ctx context.Context) (s LogOwner, err error) {
	err = e.get(ctx, "settle", pieceTimeout, &s)
	return s, err
}

// Snapshot makes that node create a checkpoint of everything in the shard's log, and returns the epoch at its end. The
// node keeps it until End, or until it was not read for some minutes.
func (e *Elsewhere) Snapshot(ctx context.Context) (epoch uint64, err error) {
	offer := new(checkpointOffer)
	if err := e.get(ctx, "snapshot", beginTimeout, offer); err != nil {
		return 0, err
	}
	e.offer = offer
	return offer.Epoch, nil
}

func (e *Elsewhere) get(ctx context.Context, op string, timeout time.Duration, v any) error {
	answer, err := e.ask(ctx, checkpointRequest{Op: op}, timeout)
	if err == nil {
		err = json.Unmarshal(answer, v)
	}
	if err != nil {
		return fmt.Errorf("%s at node %s: %w", e.kind, e.node, err)
	}
	return nil
}

// Fetch copies the checkpoint into dir, a directory on this machine's disk that does not exist yet.
func (e *Elsewhere) Fetch(ctx context.Context, d *store.Disk, dir string) (err error) {
	if e.in, err = store.Receive(d, dir); err != nil {
		return err
	}
	if err := e.fetch(ctx, e.offer); err != nil {
		return fmt.Errorf("%s from node %s: %w", e.kind, e.node, err)
	}
	return store.Install(d, dir)
}

// End notifies the node that the checkpoint, if it made one, is no longer needed.
func (e *Elsewhere) End(ctx context.Context) {
	if e.offer != nil {
		e.end(ctx, e.offer)
	}
}
