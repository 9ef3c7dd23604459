package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/store"
)

// run sees to it that this node has the replicas it should, and tries to own
// the shards it should.
func (h *host) run() {
	tick := time.NewTicker(replicasInterval)
	defer tick.Stop()
	began := time.Now()
	for {
		changed := h.records.watch()
		// As long as the disk is full a new process would not help.
		if err := h.engine.Broken(); err != nil && !h.o.Low() {
			h.fail(err)
		}
		h.seekControl(began)
		h.keepShards()
		select {
		case <-tick.C:
		case <-h.alarm:
		case <-changed:
			pause(h.ctx, settleTime)
		case <-h.ctx.Done():
			return
		}
	}
}

// seekControl decides whether this node should own the control shard. Who founds
// the cluster owns it first: a node with data, or the one that was named first.
func (h *host) seekControl(began time.Time) {
	status := h.control.replica.Status()
	if h.records.count() == 0 && status.Last == 0 {
		h.control.replica.Want(h.isFounder(began), 0)
		return
	}
	h.seek(controlShard, h.control.replica, h.records.nodeNames())
}

func (h *host) isFounder(began time.Time) bool {
	if hasOldData(h.control.replica.Status()) {
		return true
	}
	live := h.members.view.live()
	first := ""
	missing := 0
	for _, p := range h.o.Peers {
		b, ok := live[p.Name]
		switch {
		case !ok:
			missing++
		case b.OldData:
			return false
		case first == "":
			first = p.Name
		}
	}
	return first == h.o.Name && (missing == 0 || time.Since(began) > foundTimeout)
}

// hasOldData reports whether a replica has data from before there was a cluster.
func hasOldData(s replica.Status) bool { return s.Applied == 0 && s.Hash != emptyHash }

var emptyHash = fmt.Sprintf("%016x", 0)

// seek decides whether this node should try to own a shard, and after how long.
func (h *host) seek(name string, r *replica.Replica, replicas []string) {
	record := h.records.shard(name)
	live := h.members.view.live()
	able := func(node string) bool {
		b, ok := live[node]
		me, _ := h.records.node(node)
		return ok && !b.Leaving && !me.Draining && b.Shards[name].Error == ""
	}
	if h.mayNotOwn() {
		r.Want(false, 0)
		return
	}
	if founder, hasOldData := h.records.founder(name); hasOldData && founder != h.o.Name && r.Status().Last == 0 {
		r.Want(false, 0) // its log begins with what the founder has
		return
	}
	if record.Preferred == h.o.Name {
		r.Want(true, 0)
		return
	}
	// Those who are ahead of us in line get the time to do it.
	delay := time.Duration(0)
	if able(record.Preferred) {
		delay += 2 * takeoverStep
	}
	line := slices.Clone(replicas)
	slices.SortFunc(line, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(name, b), weight(name, a)), cmp.Compare(a, b))
	})
	for _, other := range line {
		if other == h.o.Name {
			break
		}
		if able(other) && other != record.Preferred {
			delay += takeoverStep
		}
	}
	if !able(h.o.Name) { // it is being drained: better than no owner
		delay += 8 * takeoverStep
	}
	r.Want(true, delay)
	if r.Role() == replica.Owner && able(record.Preferred) && h.members.isReady(name, record.Preferred) {
		h.tasks.runOnce("hand over "+name, func() { h.handOver(name, r, record.Preferred) })
	}
}

// keepShards opens the replicas that this node should have, closes those that it
// should not, and seeks to own what it should. What may take time is done beside it.
func (h *host) keepShards() {
	if h.queues() == nil {
		return // data of queues that are not known would be removed
	}
	for name, record := range h.records.allShards() {
		if name == controlShard || h.tasks.busy("keep "+name) {
			continue
		}
		l := h.local(name)
		switch here := slices.Contains(record.Replicas, h.o.Name); {
		case here && l != nil:
			h.seek(name, l.replica, record.Replicas)
		case here:
			h.tasks.runOnce("keep "+name, func() {
				if err := h.openLocal(name); err != nil && h.ctx.Err() == nil {
					h.log.Error("replica cannot be opened", "shard", name, "error", err)
				}
			})
		case l != nil && l.replica.Role() == replica.Owner:
			h.giveAway(l, record.Replicas)
		case l != nil:
			l.replica.Want(false, 0)
			h.tasks.runOnce("keep "+name, func() { h.remove(name) })
		default:
			if there, err := store.Exists(h.o.Disk, shardDir(h.o.Dir, name)); err == nil && there {
				h.tasks.runOnce("keep "+name, func() { h.remove(name) })
			}
		}
	}
}

// remove ends a replica that others keep now, if it is open, and removes its data.
func (h *host) remove(name string) {
	ctx, cancel := context.WithTimeout(h.ctx, catchUpTimeout)
	defer cancel()
	// What this node knows may be old, and the replica one that is counted on.
	err := h.barrier.catchUp(ctx)
	if record := h.records.shard(name); err != nil || len(record.Replicas) == 0 || slices.Contains(record.Replicas, h.o.Name) {
		return
	}
	if l := h.local(name); l != nil && hasOldData(l.replica.Status()) {
		h.log.Error("replica is kept, though it should not be here: it holds what no log has", "shard", name)
		return
	}
	h.closeLocal(name)
	if err := store.Remove(h.o.Disk, shardDir(h.o.Dir, name)); err != nil {
		h.log.Warn("replica cannot be removed; others keep the shard", "shard", name, "error", err)
		return
	}
	h.log.Info("replica removed; others keep the shard", "shard", name)
}
