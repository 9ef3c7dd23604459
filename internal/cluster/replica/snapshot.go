package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// CatchUp waits until the store has all that was in the log when it was called.
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

// Snapshot makes a checkpoint of the store in dir, which must not be there yet, and
// returns how much of the log is in it.
func (r *Replica) Snapshot(dir string) (mark store.Mark, err error) {
	err = r.with(func(s *store.Store) error {
		_, err := s.Checkpoint(dir)
		return err
	})
	if err != nil {
		return mark, err
	}
	// Records may have come while it was made: only the checkpoint itself knows.
	o := r.o.Storage
	s, err := store.OpenReadOnly(dir, store.Options{Disk: o.Disk, Cache: o.Cache, Logger: o.Logger})
	if err != nil {
		return mark, err
	}
	return s.Mark(), s.Close()
}
