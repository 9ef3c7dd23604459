package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/store"
)

// controlShardReplica is this node's replica of the control shard. Every node also keeps the whole control shard in
// memory. It implements replica.Host.
type controlShardReplica struct {
	*common
	members   *membership
	director  *director
	leads     *leads
	handOvers *handOvers
	wake      func() // checks which shards this node should keep, and where shards should be
	log       sharedlog.Log
	replica   *replica.Replica
	watchdog  *watchdog
	store     *control.Control
	loaded    chan struct{}                     // closed when store is set
	owned     atomic.Pointer[replica.Ownership] // nil if this node does not own the shard
	claimed   atomic.Bool                       // a node has claimed the directory since this process began
}

// open creates the replica, which stays inactive until follow.
func (c *controlShardReplica) open(ctx context.Context) (err error) {
	if c.log, err = c.engine.Log(ctx, controlShard); err != nil {
		return err
	}
	c.replica = replica.New(replica.Options{
		Name: controlShard, Node: c.o.Name, Dir: filepath.Join(c.o.Dir, datadir.ControlDir), Storage: c.storage(),
		Log: c.log, Leases: c.leases, Logger: c.common.log, Host: c, Flush: c.o.Logs.Flush,
	})
	c.watchdog = newWatchdog(
		c.o.Disk, c.replica.Stalled, c.times.stall, fmt.Errorf("%w: %w", control.ErrUnavailable, errLogSilent),
	)
	return nil
}

// follow starts following the control shard, and returns when its store is loaded.
func (c *controlShardReplica) follow(ctx context.Context) error {
	c.tasks.start(func() { c.watchdog.run(c.ctx) })
	c.tasks.start(func() {
		if err := c.replica.Run(c.ctx); err != nil {
			c.fail(c.explain(err))
		}
	})
	select {
	case <-c.loaded:
		return nil
	case <-c.failure.happened:
		return c.failure.get()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// isLoaded reports whether the control store is available.
func (c *controlShardReplica) isLoaded() bool {
	select {
	case <-c.loaded:
		return true
	default:
		return false
	}
}

// Loaded implements replica.Host.
func (c *controlShardReplica) Loaded(s *store.Store) error {
	if c.store != nil {
		c.loading()
		return c.store.Reload(s)
	}
	loaded := control.New(control.Options{Store: s, Follow: true, Writable: c.watchdog.condition})
	if err := loaded.Register(KeyPrefix, c.records); err != nil {
		return err
	}
	c.store = loaded
	close(c.loaded)
	return nil
}

// Applied implements replica.Host.
func (c *controlShardReplica) Applied(batch []byte, _ sharedlog.Position) error {
	return c.store.Apply(batch)
}

// Prepare implements replica.Host. The control shard depends on no other.
func (c *controlShardReplica) Prepare(context.Context) error { return nil }

// Claimed implements replica.Host.
func (c *controlShardReplica) Claimed(context.Context) error { return nil }

// loading calls Options.Loading.
func (c *controlShardReplica) loading() {
	if c.o.Loading != nil {
		c.o.Loading()
	}
}

// Fetch implements replica.Host.
func (c *controlShardReplica) Fetch(ctx context.Context, in *store.Incoming) error {
	c.loading()
	return c.members.checkpoint(controlShard)(ctx, in)
}

// Serve implements replica.Host. From now on, only this node changes the control store.
func (c *controlShardReplica) Serve(o *replica.Ownership) (stop func(), err error) {
	end := c.store.Own(func(tx *store.Txn) error {
		err := o.Commit(tx)
		if errors.Is(err, replica.ErrDeposed) {
			return fmt.Errorf("%w: %w", control.ErrUnavailable, err)
		}
		return err
	})
	ctx, cancel := context.WithCancel(c.ctx)
	c.owned.Store(o)
	c.tasks.start(func() { c.leads.keep(ctx, c.log) })
	c.director.controlEpoch.Store(o.Epoch())
	c.members.announce(controlShard, o.Epoch())
	c.wake()
	return func() {
		c.handOvers.ended(o)
		c.owned.CompareAndSwap(o, nil)
		c.director.controlEpoch.Store(0)
		cancel()
		end()
		c.leads.toSuccessor(controlShard, c.log)
	}, nil
}

// vouch returns the end of the control shard's log, if this node owns the shard and no other node can. Every
// acknowledged change is before that position.
func (c *controlShardReplica) vouch() (end sharedlog.Position, ok bool) {
	o := c.owned.Load()
	if o == nil {
		return 0, false
	}
	end = c.replica.Position()
	return end, o.Holds()
}

// explain adds advice to the reason why the control shard's replica stopped, if an operator can cause it.
func (c *controlShardReplica) explain(err error) error {
	if errors.Is(err, replica.ErrDiverged) {
		if c.claimed.Load() && hasOldData(c.replica.Status()) { // it contains no data of the cluster
			err = errors.Join(err, releaseDirectory(c.o.Dir))
		}
		err = explainDiverged(err, c.replica.Status(), c.o.Dir)
	}
	return fmt.Errorf("the control shard: %w", err)
}

// explainDiverged explains why a store does not fit its log, judging by the store's own state. A store that has applied
// records of a log may be the last copy of them.
func explainDiverged(err error, own replica.Status, dir string) error {
	if hasOldData(own) {
		return fmt.Errorf(
			"%w; the data directory %s holds data that is not this cluster's, such as that of a single machine: start this node with an empty one",
			err,
			dir,
		)
	}
	return fmt.Errorf(
		"%w; the log has lost or changed records that are in the data directory %s, as when a stream was deleted or restored from a backup: keep the directory, and look at the other nodes before one of them gets an empty one",
		err,
		dir,
	)
}
