package cluster

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

const (
	trimInterval = 5 * time.Second
	trimLeast    = 1000 // records that are worth it
	// trimBound is how large a log may get because a live replica is behind; after
	// that it has to fetch a checkpoint.
	trimBound = 2 << 30
)

// leadInterval is how often an owner looks whether its log is led from its node. To
// change that holds up the commit under way.
const leadInterval = 20 * time.Second

// lead keeps the lead of a log on this node until ctx ends.
func (n *Node) lead(ctx context.Context, log sharedlog.Log) {
	again := time.NewTicker(leadInterval)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		once, cancel := context.WithTimeout(ctx, leadInterval/2)
		if err := n.engine.Lead(once, log, n.id.server()); err != nil && ctx.Err() == nil {
			n.log.Debug("log is led from another node", "error", err)
		}
		cancel()
	}
}

// leadFrom moves the lead of a log to a server, if that is done soon.
func (n *Node) leadFrom(ctx context.Context, name string, log sharedlog.Log, server string) {
	ctx, cancel := context.WithTimeout(ctx, leadPatience)
	defer cancel()
	if err := n.engine.Lead(ctx, log, server); err != nil {
		n.log.Debug("log is led from another node", "shard", name, "error", err)
	}
}

// leadPatience is how long a shard waits for the lead of its log to move before it
// does without.
const leadPatience = 700 * time.Millisecond

// anyLeaving reports whether a node is about to stop: it moves the lead of what it
// leads itself, and two who do that at a time leave a log without a leader.
func (n *Node) anyLeaving() bool {
	for _, b := range n.view.live() {
		if b.Leaving {
			return true
		}
	}
	return false
}

// trim forgets what the logs of the shards that this node owns hold and nobody needs
// any more.
func (n *Node) trim() {
	again := time.NewTicker(trimInterval)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
		if !n.control.Elsewhere() {
			n.trimLog(controlShard, n.replica, n.nodeNames())
		}
		for _, l := range n.allLocals() {
			if l.serving.Load() != nil {
				n.trimLog(l.name, l.replica, n.records.shard(l.name).Replicas)
			}
		}
	}
}

func (n *Node) trimLog(name string, r *replica.Replica, replicas []string) {
	live := n.view.live()
	var set []replica.Need
	for _, node := range replicas {
		s, ok := live[node].Shards[name]
		set = append(set, replica.Need{Durable: s.Durable, Live: ok && s.Error == ""})
	}
	own := r.Status()
	to := replica.TrimPoint(set, sharedlog.Extent{First: own.First, Last: own.Last, Bytes: own.Bytes}, trimBound)
	if to < own.First+trimLeast {
		return
	}
	ctx, cancel := context.WithTimeout(n.ctx, trimInterval)
	defer cancel()
	if err := r.Trim(ctx, to); err != nil {
		n.log.Debug("log is not trimmed", "shard", name, "error", err)
	}
}
