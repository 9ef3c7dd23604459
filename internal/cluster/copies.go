package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// logCopies is how many copies of a log are complete, as the engine says, and how many
// there should be. A replica of a shard may have all that its log's copy on the same
// node has not got yet, and the log is what majorities are made of.
type logCopies struct{ Complete, Wanted int }

// copyCounts are those of the logs of the shards that this node keeps. The zero value is
// ready for use.
type copyCounts struct {
	mu     sync.Mutex
	counts map[string]logCopies
	// leaderless is since when a log has had no leader.
	leaderless map[string]time.Time
}

func (c *copyCounts) of(shard string) logCopies {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.counts[shard]
}

func (c *copyCounts) set(shard string, count logCopies, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.counts == nil {
		c.counts, c.leaderless = make(map[string]logCopies), make(map[string]time.Time)
	}
	c.counts[shard] = count
	switch since := c.leaderless[shard]; {
	case err == nil:
		delete(c.leaderless, shard)
	case since.IsZero() && errors.Is(err, ErrLeaderless): // other errors say nothing
		c.leaderless[shard] = time.Now()
	}
}

// keep forgets all but these shards.
func (c *copyCounts) keep(shards map[string]sharedlog.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	maps.DeleteFunc(c.counts, func(shard string, _ logCopies) bool { return shards[shard] == nil })
	maps.DeleteFunc(c.leaderless, func(shard string, _ time.Time) bool { return shards[shard] == nil })
}

// stuck returns a log that has had no leader for so long.
func (c *copyCounts) stuck(long time.Duration) (shard string, is bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for shard, since := range c.leaderless {
		if time.Since(since) >= long {
			return shard, true
		}
	}
	return "", false
}

const (
	copiesInterval = 2 * time.Second
	copiesPatience = 3 * time.Second
	// leaderPatience is how long a log may be without a leader while most nodes are
	// there. An election takes seconds; but a part of the engine may have shut itself
	// out of them, and then it takes a new process, on one node after the other.
	leaderPatience = 40 * time.Second
	leaderStagger  = 20 * time.Second
)

// countCopies keeps the counts.
func (n *Node) countCopies() {
	again := time.NewTicker(copiesInterval)
	defer again.Stop()
	for {
		n.countOnce()
		n.mendLeaderless()
		select {
		case <-again.C:
		case <-n.ctx.Done():
			return
		}
	}
}

func (n *Node) countOnce() {
	ctx, cancel := context.WithTimeout(n.ctx, copiesPatience)
	defer cancel()
	logs := map[string]sharedlog.Log{controlShard: n.controlLog}
	for _, l := range n.allLocals() {
		logs[l.name] = l.log
	}
	n.copies.keep(logs)
	var all sync.WaitGroup
	for name, log := range logs {
		all.Go(func() {
			complete, wanted, err := n.engine.Copies(ctx, log)
			if n.ctx.Err() == nil {
				n.copies.set(name, logCopies{complete, wanted}, err)
			}
			if err != nil {
				n.log.Debug("copies of a log cannot be counted", "shard", name, "error", err)
			}
		})
	}
	all.Wait()
}

// mendLeaderless ends this process if a log stays without a leader though there is a
// majority, and it is this node's turn.
func (n *Node) mendLeaderless() {
	live := slices.Sorted(maps.Keys(n.view.live()))
	turn := max(slices.Index(live, n.o.Name), 0)
	shard, is := n.copies.stuck(leaderPatience + time.Duration(turn)*leaderStagger)
	if is && 2*len(live) > max(len(n.records.allNodes()), len(n.o.Peers)) && !n.hindered() {
		n.fail(fmt.Errorf("the log of shard %s has had no leader for long, though most nodes are there: a new process may help it to one", shard))
	}
}
