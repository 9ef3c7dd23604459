package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// isReady reports whether a node's replica could own a shard at once.
func (n *Node) isReady(name, node string) bool {
	live := n.view.live()
	b, ok := live[node].Shards[name]
	if !ok || b.Error != "" || b.Role == replica.Fetching {
		return false
	}
	newest := sharedlog.Position(0)
	for _, other := range live {
		newest = max(newest, other.Shards[name].Applied)
	}
	if b.Applied == 0 {
		// The log has not begun: of a shard that its founder brings in, nobody else
		// has anything.
		founder, bears := n.records.founder(name)
		return newest == 0 && (!bears || node == founder)
	}
	return b.Applied+status.Near >= newest
}

// handOver gives a shard to another node.
func (n *Node) handOver(name string, r *replica.Replica, to string) {
	ctx, cancel := context.WithTimeout(n.ctx, n.ttl)
	defer cancel()
	n.passOn(ctx, name, r, to)
}

// passOn gives a shard up, to another node if to names one.
func (n *Node) passOn(ctx context.Context, name string, r *replica.Replica, to string) {
	n.heirs.Store(name, to)
	defer n.heirs.Delete(name)
	if err := r.HandOver(ctx); err != nil {
		n.log.Warn("shard is not handed over", "shard", name, "to", to, "error", err)
		return
	}
	if to != "" {
		n.nudge(ctx, name, to)
	}
}

// leadForHeir moves the lead of a shard's log to the node that is to have the shard, if
// it is being handed over. It is called when this node has stopped serving the shard and
// nobody else may begin: an append that is under way when the lead moves may lose its
// answer, and whoever waits for that waits for seconds.
func (n *Node) leadForHeir(name string, log sharedlog.Log) {
	to, _ := n.heirs.Load(name)
	if b, ok := n.view.live()[fmt.Sprint(to)]; ok {
		n.leadFrom(n.ctx, name, log, incarnation{Node: b.Node, ID: b.Incarnation}.server())
	}
}

// giveAway hands over a shard that others are to keep, as soon as one of them is
// ready.
func (n *Node) giveAway(l *local, replicas []string) {
	for _, to := range replicas {
		if n.isReady(l.name, to) {
			n.tasks.single("hand over "+l.name, func() { n.handOver(l.name, l.replica, to) })
			return
		}
	}
}

// nudge tells a node that it may have a shard at once. If it does not hear of that
// it finds out.
func (n *Node) nudge(ctx context.Context, name, to string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if _, err := n.messages.Request(ctx, to, kindNudge, []byte(name)); err != nil {
		n.log.Debug("successor has not been told", "shard", name, "to", to, "error", err)
	}
	n.log.Info("shard handed over", "shard", name, "to", to)
}

// nudged takes a shard that another node has given up.
func (n *Node) nudged(_ context.Context, name []byte) ([]byte, error) {
	r := n.replica
	if string(name) != controlShard {
		l := n.local(string(name))
		if l == nil {
			return nil, errors.New("there is no replica of that shard here")
		}
		r = l.replica
	}
	n.leases.expire()
	if n.hindered() {
		return nil, errors.New("this node owns no more shards")
	}
	r.Want(true, 0)
	r.Nudge()
	return nil, nil
}

// Close leaves the cluster: what this node owns is handed over first.
func (n *Node) Close(ctx context.Context) error {
	n.leaving.Store(true)
	n.leave(ctx)
	n.cancel()
	if n.router != nil {
		n.router.Close()
	}
	n.tasks.wait()
	if n.engine == nil {
		return nil
	}
	if err := n.engine.Close(); err != nil {
		return fmt.Errorf("leave the cluster: %w", err)
	}
	return nil
}

// leave hands over what this node owns to those who are ready, the control shard
// last.
func (n *Node) leave(ctx context.Context) {
	if n.control == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, n.ttl)
	defer cancel()
	n.sayGoodbye(ctx)
	load := make(map[string]int)
	for name := range n.records.allShards() {
		if h, ok := n.view.owner(name); ok {
			load[h.Node]++
		}
	}
	var all sync.WaitGroup
	give := func(name string, r *replica.Replica, replicas []string) {
		if r.Role() != replica.Owner {
			return
		}
		to := n.heir(name, replicas, load)
		all.Go(func() { n.passOn(ctx, name, r, to) })
	}
	for _, l := range n.allLocals() {
		give(l.name, l.replica, n.records.shard(l.name).Replicas)
	}
	all.Wait()
	give(controlShard, n.replica, n.nodeNames())
	all.Wait()
}

// sayGoodbye tells the others that this node is about to stop, and waits a moment
// for it to be decided who should have its shards.
func (n *Node) sayGoodbye(ctx context.Context) {
	n.take(n.beatNow())
	n.tasks.start(n.tellAll)
	ctx, cancel := context.WithTimeout(ctx, goodbye)
	defer cancel()
	for ctx.Err() == nil && len(n.view.live()) > 1 {
		changed := n.records.watch()
		preferred := func(r shardRecord) bool { return r.Preferred == n.o.Name }
		if !slices.ContainsFunc(slices.Collect(maps.Values(n.records.allShards())), preferred) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}

const goodbye = 500 * time.Millisecond

// heir chooses who is to have a shard of this node's: who should own it or else, of
// those who are ready, the one with the fewest. It is empty if nobody is ready.
func (n *Node) heir(name string, replicas []string, load map[string]int) string {
	live := n.view.live()
	if to := n.records.shard(name).Preferred; to != n.o.Name && !live[to].Leaving && n.isReady(name, to) {
		return to
	}
	best := ""
	for _, node := range replicas {
		record, _ := n.records.node(node)
		if node == n.o.Name || live[node].Leaving || record.Draining || !n.isReady(name, node) {
			continue
		}
		if best == "" || load[node] < load[best] {
			best = node
		}
	}
	load[best]++
	return best
}

// Reclaim begins to give back the space of what was deleted; see store.Reclaim.
func (n *Node) Reclaim() error {
	errs := []error{n.replica.FlushStore()}
	for _, l := range n.allLocals() {
		errs = append(errs, l.replica.FlushStore())
	}
	return errors.Join(errs...)
}
