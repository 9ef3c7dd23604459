package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// handOver gives a shard to another node.
func (h *host) handOver(name string, r *replica.Replica, to string) {
	ctx, cancel := context.WithTimeout(h.ctx, handOverTimeout)
	defer cancel()
	h.handTo(ctx, name, r, to)
}

// handTo gives up a shard, in favour of the node to if it is not empty.
func (h *host) handTo(ctx context.Context, name string, r *replica.Replica, to string) {
	h.successors.Store(name, to)
	defer h.successors.Delete(name)
	if err := r.HandOver(ctx); err != nil {
		h.log.Warn("shard is not handed over", "shard", name, "to", to, "error", err)
		return
	}
	if to != "" {
		h.nudge(ctx, name, to)
	}
}

// leadToSuccessor moves the lead of a shard's log to the node that will own the shard, during a hand-over. It runs
// after this node has stopped serving the shard and before another node may begin: an append in progress while the lead
// moves may lose its answer, and its caller would wait for seconds.
func (h *host) leadToSuccessor(name string, log sharedlog.Log) {
	to, _ := h.successors.Load(name)
	if b, ok := h.members.view.live()[fmt.Sprint(to)]; ok {
		h.leadFrom(h.ctx, name, log, incarnation{Node: b.Node, ID: b.Incarnation}.server())
	}
}

// giveAway hands over a shard that other nodes should keep, as soon as one of them is ready.
func (h *host) giveAway(l *local, replicas []string) {
	for _, to := range replicas {
		if h.members.isReady(l.name, to) {
			h.tasks.runOnce("hand over "+l.name, func() { h.handOver(l.name, l.replica, to) })
			return
		}
	}
}

// nudge notifies a node that it may take a shard at once. A node that misses the message finds out by itself, later.
func (h *host) nudge(ctx context.Context, name, to string) {
	ctx, cancel := context.WithTimeout(ctx, nudgeTimeout)
	defer cancel()
	if _, err := h.messages.Request(ctx, to, kindNudge, []byte(name)); err != nil {
		h.log.Debug("the successor does not know of the shard yet", "shard", name, "to", to, "error", err)
	}
	h.log.Info("shard handed over", "shard", name, "to", to)
}

// nudged takes a shard that another node has given up.
func (h *host) nudged(_ context.Context, name []byte) ([]byte, error) {
	r := h.control.replica
	if string(name) != controlShard {
		l := h.local(string(name))
		if l == nil {
			return nil, errors.New("there is no replica of that shard here")
		}
		r = l.replica
	}
	h.leases.expire()
	if h.mayNotOwn() {
		return nil, errors.New("this node no longer owns shards")
	}
	r.Want(true, 0)
	r.Nudge()
	return nil, nil
}

// leave hands over everything that this node owns to nodes that are ready, the control shard last.
func (h *host) leave(ctx context.Context) {
	if !h.control.isLoaded() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leaveTimeout)
	defer cancel()
	h.announceLeaving(ctx)
	h.engine.Yield(ctx)
	load, given := make(map[string]int), make(map[string]string)
	for name := range h.records.allShards() {
		if o, ok := h.members.view.owner(name); ok {
			load[o.Node]++
		}
	}
	var all sync.WaitGroup
	give := func(name string, r *replica.Replica, replicas []string) {
		if r.Role() != replica.Owner {
			return
		}
		to := h.successor(name, replicas, load)
		given[name] = to
		all.Go(func() { h.handTo(ctx, name, r, to) })
	}
	for _, l := range h.allLocals() {
		give(l.name, l.replica, h.records.shard(l.name).Replicas)
	}
	all.Wait()
	give(controlShard, h.control.replica, h.records.nodeNames())
	all.Wait()
	h.awaitSuccessors(ctx, given)
}

// awaitSuccessors waits a limited time until other nodes serve the shards they were given. If a third node is slow,
// they need this node's vote until then.
func (h *host) awaitSuccessors(ctx context.Context, given map[string]string) {
	ctx, cancel := context.WithTimeout(ctx, successorTimeout)
	defer cancel()
	for name, to := range given {
		for ctx.Err() == nil && to != "" {
			changed := h.members.view.watch(name)
			if o, _ := h.members.view.owner(name); o.Node != h.o.Name {
				break
			}
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}
}

// announceLeaving announces to the others that this node is about to stop, and waits a moment until the director has
// chosen new owners for its shards.
func (h *host) announceLeaving(ctx context.Context) {
	h.members.record(h.heartbeat())
	h.tasks.start(h.members.sendHeartbeats)
	ctx, cancel := context.WithTimeout(ctx, leaveNotice)
	defer cancel()
	for ctx.Err() == nil && len(h.members.view.live()) > 1 {
		changed := h.records.watch()
		preferred := func(r shardRecord) bool { return r.Preferred == h.o.Name }
		if !slices.ContainsFunc(slices.Collect(maps.Values(h.records.allShards())), preferred) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

// successor chooses the next owner of one of this node's shards: the preferred owner, or else the ready node with the
// fewest shards. It returns "" if no node is ready.
func (h *host) successor(name string, replicas []string, load map[string]int) string {
	live := h.members.view.live()
	if to := h.records.shard(name).Preferred; to != h.o.Name && !live[to].Leaving && h.members.isReady(name, to) {
		return to
	}
	best := ""
	for _, node := range replicas {
		record, _ := h.records.node(node)
		if node == h.o.Name || live[node].Leaving || record.Draining || !h.members.isReady(name, node) {
			continue
		}
		if best == "" || load[node] < load[best] {
			best = node
		}
	}
	load[best]++
	return best
}
