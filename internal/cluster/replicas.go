package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// run opens the replicas that this node should keep, and seeks to own the shards that it should own.
func (h *host) run() {
	tick := time.NewTicker(replicasInterval)
	defer tick.Stop()
	began := time.Now()
	for {
		changed := h.records.watch()
		// A new process would not help while the disk is full.
		if err := h.engine.Broken(); err != nil && !h.o.Low() {
			h.fail(err)
		}
		h.candidacy.seekControl(began)
		h.keepShards()
		select {
		case <-tick.C:
		case <-h.alarm:
		case <-changed:
			_ = wait.For(h.ctx, recordsPause)
		case <-h.ctx.Done():
			return
		}
	}
}

// keepShards opens the replicas that this node should keep, closes the others, and seeks to own the shards that it
// should own. Slow steps run in their own goroutines.
func (h *host) keepShards() {
	if h.queues.catalog() == nil {
		return // unknown queues cannot be served
	}
	for name, record := range h.records.allShards() {
		if name == controlShard || h.tasks.busy("keep "+name) {
			continue
		}
		l := h.locals.of(name)
		switch here := slices.Contains(record.Replicas, h.o.Name); {
		case here && l != nil:
			h.candidacy.seek(name, l.replica, record.Replicas)
		case here:
			h.tasks.runOnce("keep "+name, func() {
				if err := h.openLocal(name); err != nil && h.ctx.Err() == nil {
					h.log.Error("replica cannot be opened", "shard", name, "error", err)
				}
			})
		case l != nil && l.replica.Role() == replica.Owner:
			h.handOvers.giveAway(l, record.Replicas)
		case l != nil:
			l.replica.Want(false, 0)
			h.tasks.runOnce("keep "+name, func() { h.remove(name) })
		default:
			there, err := store.Exists(h.o.Disk, shardDir(h.o.Dir, name))
			if _, kept := h.strange.Load(name); err == nil && there && !kept {
				h.tasks.runOnce("keep "+name, func() { h.remove(name) })
			}
		}
	}
}

// remove stops a replica that other nodes keep now, if it is open, and deletes its data.
func (h *host) remove(name string) {
	ctx, cancel := context.WithTimeout(h.ctx, catchUpTimeout)
	defer cancel()
	// This node's view may be old, and the others may rely on the replica.
	err := h.barrier.catchUp(ctx)
	if record := h.records.shard(name); err != nil || len(record.Replicas) == 0 ||
		slices.Contains(record.Replicas, h.o.Name) {
		return
	}
	old, err := h.hasOldStore(name)
	if old || err != nil {
		h.log.Error("replica is kept, though it should not be here: it has records that no log has", "shard", name, "error", err)
		h.strange.Store(name, true)
		return
	}
	h.closeLocal(name)
	if err := store.Remove(h.o.Disk, shardDir(h.o.Dir, name)); err != nil {
		h.log.Warn("replica cannot be removed; others keep the shard", "shard", name, "error", err)
		return
	}
	h.log.Info("replica removed; others keep the shard", "shard", name)
}

// hasOldStore reports whether the store of a shard that this node should not keep has data of no log. The store is
// closed, unless its replica is open.
func (h *host) hasOldStore(name string) (bool, error) {
	if l := h.locals.of(name); l != nil {
		return hasOldData(l.replica.Status()), nil
	}
	s, err := store.OpenReadOnly(shardDir(h.o.Dir, name), store.Options{Disk: h.o.Disk, Cache: h.o.Cache})
	if errors.Is(err, os.ErrNotExist) { // its removal was interrupted
		return false, nil
	}
	if err != nil {
		return false, err
	}
	empty, err := s.Empty()
	return s.Mark().Position == 0 && !empty, errors.Join(err, s.Close())
}

// hasOldData reports whether a replica has data from before the cluster.
func hasOldData(s replica.Status) bool { return s.Applied == 0 && s.Hash != emptyHash }

var emptyHash = fmt.Sprintf("%016x", 0)
