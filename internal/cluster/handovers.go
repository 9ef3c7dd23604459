package cluster

import (
	"context"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// handOvers hands shards of this node over to other nodes in an orderly way.
//
//   - While the node runs, a shard is handed over only to a node that is ready to own it, and once at a time. When the
//     node stops, shards for which no node is ready are given up, too.
//   - The successor is nudged after this node has given back the lease.
type handOvers struct {
	*common
	members *membership
	control *controlShardReplica
	locals  *locals
	leads   *leads

	done, lost atomic.Int64 // ownerships that have ended; see ended
}

// start gives a shard to another node, in a task.
func (h *handOvers) start(name string, r *replica.Replica, to string) {
	h.tasks.runOnce("hand over "+name, func() {
		ctx, cancel := context.WithTimeout(h.ctx, handOverTimeout)
		defer cancel()
		h.handTo(ctx, name, r, to)
	})
}

// inProgress reports whether a shard is being handed over.
func (h *handOvers) inProgress(name string) bool { return h.tasks.busy("hand over " + name) }

// handTo gives up a shard, in favour of the node to if it is not empty.
func (h *handOvers) handTo(ctx context.Context, name string, r *replica.Replica, to string) {
	defer h.leads.expect(name, to)()
	if err := r.HandOver(ctx); err != nil {
		h.log.Warn("shard is not handed over", "shard", name, "to", to, "error", err)
		return
	}
	if to != "" {
		h.nudge(ctx, name, to)
	}
}

// giveAway hands over a shard that other nodes should keep, as soon as one of them is ready.
func (h *handOvers) giveAway(l *local, replicas []string) {
	for _, to := range replicas {
		if h.members.isReady(l.name, to) {
			h.start(l.name, l.replica, to)
			return
		}
	}
}

// nudge notifies a node that it may take a shard at once. A node that misses the message finds out by itself, later.
func (h *handOvers) nudge(ctx context.Context, name, to string) {
	ctx, cancel := context.WithTimeout(ctx, nudgeTimeout)
	defer cancel()
	if _, err := h.messages.Request(ctx, to, kindNudge, []byte(name)); err != nil {
		h.log.Debug("the successor does not know of the shard yet", "shard", name, "to", to, "error", err)
	}
	h.log.Info("shard handed over", "shard", name, "to", to)
}

// leave hands over everything that this node owns to nodes that are ready, the control shard last.
func (h *handOvers) leave(ctx context.Context) {
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
	for _, l := range h.locals.all() {
		give(l.name, l.replica, h.records.shard(l.name).Replicas)
	}
	all.Wait()
	give(controlShard, h.control.replica, h.records.nodeNames())
	all.Wait()
	h.awaitSuccessors(ctx, given)
}

// awaitSuccessors waits a limited time until other nodes serve the shards they were given. If a third node is slow,
// they need this node's vote until then.
func (h *handOvers) awaitSuccessors(ctx context.Context, given map[string]string) {
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
func (h *handOvers) announceLeaving(ctx context.Context) {
	h.members.record(h.members.self())
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
func (h *handOvers) successor(name string, replicas []string, load map[string]int) string {
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

// ended counts an ownership that ends. It is called before the shard stops serving.
func (h *handOvers) ended(o *replica.Ownership) {
	select {
	case <-o.Ended():
		h.lost.Add(1)
	default: // it can still commit
		h.done.Add(1)
	}
}
