package cluster

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/replica"
	"github.com/sluicemq/sluice/internal/sharedlog"
)

// logCopies is how many copies of a log are complete, as the engine says, and how many
// there should be. A replica of a shard may have all that its log's copy on the same
// node has not got yet, and the log is what majorities are made of.
type logCopies struct{ Complete, Wanted int }

// copyCounts are those of the shards that this node owns. The zero value is ready for
// use.
type copyCounts struct {
	mu     sync.Mutex
	counts map[string]logCopies
}

func (c *copyCounts) all() map[string]logCopies {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.counts)
}

func (c *copyCounts) set(counts map[string]logCopies) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.counts = counts
}

const (
	copiesInterval = 2 * time.Second
	copiesPatience = time.Second // for all of them
)

// countCopies keeps the counts.
func (n *Node) countCopies() {
	again := time.NewTicker(copiesInterval)
	defer again.Stop()
	for {
		n.copies.set(n.countOnce())
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
	}
}

func (n *Node) countOnce() map[string]logCopies {
	ctx, cancel := context.WithTimeout(n.ctx, copiesPatience)
	defer cancel()
	counts := make(map[string]logCopies)
	count := func(name string, r *replica.Replica, log sharedlog.Log) {
		if !r.Role().Owns() {
			return
		}
		complete, wanted, err := n.engine.Copies(ctx, log)
		if err != nil {
			n.log.Debug("copies of a log cannot be counted", "shard", name, "error", err)
			return
		}
		counts[name] = logCopies{complete, wanted}
	}
	count(controlShard, n.replica, n.controlLog)
	for _, l := range n.allLocals() {
		count(l.name, l.replica, l.log)
	}
	return counts
}
