package cluster

import (
	"cmp"
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
		h.seekControl(began)
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

// seekControl decides whether this node should own the control shard. Its first owner is the founder of the cluster: a
// node with data, or otherwise the first configured node.
func (h *host) seekControl(began time.Time) {
	status := h.control.replica.Status()
	if h.records.count() == 0 && status.Last == 0 {
		h.control.replica.Want(h.isFounder(status, began), 0)
		return
	}
	h.seek(controlShard, h.control.replica, h.records.nodeNames())
}

// isFounder reports whether this node should found the cluster. own is its replica of the control shard, and began is
// when the node started to look for the others.
func (h *host) isFounder(own replica.Status, began time.Time) bool {
	if hasOldData(own) {
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

// hasOldData reports whether a replica has data from before the cluster.
func hasOldData(s replica.Status) bool { return s.Applied == 0 && s.Hash != emptyHash }

var emptyHash = fmt.Sprintf("%016x", 0)

// seek makes a replica try to own its shard, or stop trying. It hands the shard over if this node owns it and another
// should.
func (h *host) seek(name string, r *replica.Replica, replicas []string) {
	own := r.Status()
	want, delay := h.turn(name, own, replicas)
	r.Want(want, delay)
	to := h.records.shard(name).Preferred
	able := h.isAble(name, to) && h.members.isReady(name, to)
	if owner, known := h.members.view.owner(name); known {
		h.patience.seen(name, owner.Node, owner.Epoch, to, able, time.Now())
	}
	if !want || to == h.o.Name || own.Role != replica.Owner || !able {
		return
	}
	if !h.tasks.busy("hand over "+name) && h.patience.over(name, time.Now()) {
		h.tasks.runOnce("hand over "+name, func() { h.handOver(name, r, to) })
	}
}

// isAble reports whether a node has reported that it could own a shard.
func (h *host) isAble(name, node string) bool {
	said, alive := h.members.view.live()[node]
	record, _ := h.records.node(node)
	return alive && !said.Leaving && !record.Draining && said.Shards[name].Error == ""
}

// turn decides whether this node should try to own a shard, and after which delay. own is its replica of the shard.
func (h *host) turn(name string, own replica.Status, replicas []string) (want bool, delay time.Duration) {
	if h.mayNotOwn() {
		return false, 0
	}
	if founder, hasOldData := h.records.founder(name); hasOldData && founder != h.o.Name && own.Last == 0 {
		return false, 0 // its log begins with the founder's data
	}
	preferred := h.records.shard(name).Preferred
	if preferred == h.o.Name {
		return true, 0
	}
	// The nodes before this one get time to take it.
	if h.isAble(name, preferred) {
		delay += 2 * h.times.step
	}
	line := slices.Clone(replicas)
	slices.SortFunc(line, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(name, b), weight(name, a)), cmp.Compare(a, b))
	})
	for _, other := range line {
		if other == h.o.Name {
			break
		}
		if other != preferred && h.isAble(name, other) {
			delay += h.times.step
		}
	}
	if !h.isAble(name, h.o.Name) { // a drained owner is better than none
		delay += 8 * h.times.step
	}
	return true, delay
}

// electionTurn returns how long this node leaves the election of a log's leader to the nodes that should own its shard.
// "" stands for a log that belongs to no shard.
func (h *host) electionTurn(log string) time.Duration {
	var own replica.Status
	replicas := h.records.nodeNames()
	if l := h.local(log); l != nil {
		own, replicas = l.replica.Status(), h.records.shard(log).Replicas
	} else if log == controlShard {
		own = h.control.replica.Status()
	}
	want, delay := h.turn(log, own, replicas)
	if !want {
		delay = 8 * h.times.step
	}
	return electionSteps * delay
}

// electionSteps is how many times longer a node waits for an earlier node in an election than for its claim of a shard.
// If the earlier node lacks too many records to win, NATS lets the others stand at once.
const electionSteps = 4

// keepShards opens the replicas that this node should keep, closes the others, and seeks to own the shards that it
// should own. Slow steps run in their own goroutines.
func (h *host) keepShards() {
	if h.queues() == nil {
		return // unknown queues cannot be served
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
	if l := h.local(name); l != nil {
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
