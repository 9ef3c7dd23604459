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

const (
	manageInterval = time.Second
	// patience is how long the preferred owner of a shard has to take it before
	// another node does, and each further one waits as much longer.
	patience = 500 * time.Millisecond
	// foundWait is how long the founder waits for the nodes that were named.
	foundWait = 15 * time.Second
)

// manage sees to it that this node has the replicas it should, and tries to own
// the shards it should.
func (n *Node) manage() {
	tick := time.NewTicker(manageInterval)
	defer tick.Stop()
	began := time.Now()
	for {
		changed := n.records.watch()
		// As long as the disk is full nobody is helped by another process.
		if err := n.engine.Broken(); err != nil && !n.o.Low() {
			n.fail(err)
		}
		n.manageControl(began)
		n.manageShards()
		select {
		case <-tick.C:
		case <-n.manager:
		case <-changed:
			pause(n.ctx, 50*time.Millisecond) // others will follow
		case <-n.ctx.Done():
			return
		}
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// manageControl decides whether this node should own the control shard. Who founds
// the cluster owns it first: a node with data, or the one that was named first.
func (n *Node) manageControl(began time.Time) {
	status := n.replica.Status()
	if n.records.count() == 0 && status.Last == 0 {
		n.replica.Want(n.isFounder(began), 0)
		return
	}
	n.seek(controlShard, n.replica, n.nodeNames())
}

func (n *Node) isFounder(began time.Time) bool {
	if bears(n.replica.Status()) {
		return true
	}
	live := n.view.live()
	first := ""
	missing := 0
	for _, p := range n.o.Peers {
		b, ok := live[p.Name]
		switch {
		case !ok:
			missing++
		case b.Bears:
			return false
		case first == "":
			first = p.Name
		}
	}
	return first == n.o.Name && (missing == 0 || time.Since(began) > foundWait)
}

// bears reports whether a replica has data from before there was a cluster.
func bears(s replica.Status) bool { return s.Applied == 0 && s.Hash != emptyHash }

var emptyHash = fmt.Sprintf("%016x", 0)

// nodeNames returns the nodes that the cluster knows, in a fixed order.
func (n *Node) nodeNames() []string {
	nodes := n.records.allNodes()
	names := make([]string, 0, len(nodes))
	for name := range nodes {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// seek decides whether this node should try to own a shard, and after how long.
func (n *Node) seek(name string, r *replica.Replica, replicas []string) {
	record := n.records.shard(name)
	live := n.view.live()
	able := func(node string) bool {
		b, ok := live[node]
		me, _ := n.records.node(node)
		return ok && !b.Leaving && !me.Draining && b.Shards[name].Error == ""
	}
	if n.hindered() {
		r.Want(false, 0)
		return
	}
	if founder, bears := n.records.founder(name); bears && founder != n.o.Name && r.Status().Last == 0 {
		r.Want(false, 0) // its log begins with what the founder has
		return
	}
	if record.Preferred == n.o.Name {
		r.Want(true, 0)
		return
	}
	// Those who are ahead of us in line get the time to do it.
	delay := time.Duration(0)
	if able(record.Preferred) {
		delay += 2 * patience
	}
	line := slices.Clone(replicas)
	slices.SortFunc(line, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(name, b), weight(name, a)), cmp.Compare(a, b))
	})
	for _, other := range line {
		if other == n.o.Name {
			break
		}
		if able(other) && other != record.Preferred {
			delay += patience
		}
	}
	if !able(n.o.Name) { // it is being drained: better than nobody
		delay += 8 * patience
	}
	r.Want(true, delay)
	if r.Role() == replica.Owner && able(record.Preferred) && n.isReady(name, record.Preferred) {
		n.tasks.single("hand over "+name, func() { n.handOver(name, r, record.Preferred) })
	}
}

// hindered reports whether this node is not to own anything.
func (n *Node) hindered() bool { return n.leaving.Load() || n.o.Disk.Writable().Err() != nil }

// manageShards opens the replicas that this node should have, closes those that it
// should not, and seeks to own what it should. What may take time is done beside it.
func (n *Node) manageShards() {
	if n.queues() == nil {
		return // data of queues that are not known would be removed
	}
	for name, record := range n.records.allShards() {
		if name == controlShard || n.tasks.busy("keep "+name) {
			continue
		}
		l := n.local(name)
		switch here := slices.Contains(record.Replicas, n.o.Name); {
		case here && l != nil:
			n.seek(name, l.replica, record.Replicas)
		case here:
			n.tasks.single("keep "+name, func() {
				if err := n.openLocal(name); err != nil && n.ctx.Err() == nil {
					n.log.Error("replica cannot be opened", "shard", name, "error", err)
				}
			})
		case l != nil && l.replica.Role() == replica.Owner:
			n.giveAway(l, record.Replicas)
		case l != nil:
			l.replica.Want(false, 0)
			n.tasks.single("keep "+name, func() { n.remove(name) })
		default:
			if there, err := store.Exists(n.o.Disk, n.shardDir(name)); err == nil && there {
				n.tasks.single("keep "+name, func() { n.remove(name) })
			}
		}
	}
}

// remove ends a replica that others keep now, if it is open, and removes its data.
func (n *Node) remove(name string) {
	ctx, cancel := context.WithTimeout(n.ctx, catchUpTimeout)
	defer cancel()
	// What this node knows may be old, and the replica one that is counted on.
	err := n.CatchUp(ctx)
	if record := n.records.shard(name); err != nil || len(record.Replicas) == 0 || slices.Contains(record.Replicas, n.o.Name) {
		return
	}
	if l := n.local(name); l != nil && bears(l.replica.Status()) {
		n.log.Error("replica is kept, though it should not be here: it holds what no log has", "shard", name)
		return
	}
	n.closeLocal(name)
	if err := store.Remove(n.o.Disk, n.shardDir(name)); err != nil {
		n.log.Warn("replica cannot be removed; others keep the shard", "shard", name, "error", err)
		return
	}
	n.log.Info("replica removed; others keep the shard", "shard", name)
}
