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

// logCopies counts the complete copies of a log, as the engine reports them, and the copies that it should have. A
// replica of a shard may be ahead of the log's copy on the same node, and majorities consist of copies of the log.
type logCopies struct{ Complete, Wanted int }

// isMajority reports whether the complete copies are a majority, and so have every acknowledged record.
func (c logCopies) isMajority() bool { return 2*c.Complete > c.Wanted }

// fewer returns the count with fewer complete copies. If either is unknown, so is the result.
func (c logCopies) fewer(other logCopies) logCopies {
	if other.Wanted == 0 || other.Complete < c.Complete {
		return other
	}
	return c
}

// leaseCopies is the name under which the copies of the leases are counted.
const leaseCopies = "leases"

// copyCounts holds the numbers of copies of the logs of this node's shards. The zero value is ready for use.
type copyCounts struct {
	mu     sync.Mutex
	counts map[string]logCopies
	// fewer lists the shards whose latest count had fewer complete copies than the count before. The lower number is
	// confirmed by a second count.
	fewer map[string]bool
	// leaderless records since when a log has had no leader.
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
		c.counts, c.fewer, c.leaderless = make(map[string]logCopies), make(map[string]bool), make(map[string]time.Time)
	}
	// A copy that is one record behind at the moment of the count is incomplete. Only two such counts in a row matter.
	if count.Wanted > 0 && count.Complete < c.counts[shard].Complete && !c.fewer[shard] {
		c.fewer[shard] = true
	} else {
		delete(c.fewer, shard)
		c.counts[shard] = count
	}
	switch since := c.leaderless[shard]; {
	case err == nil:
		delete(c.leaderless, shard)
	case since.IsZero() && errors.Is(err, ErrLeaderless): // other errors are no evidence
		c.leaderless[shard] = time.Now()
	}
}

// retain forgets all shards except the given ones.
func (c *copyCounts) retain(shards map[string]sharedlog.Log) {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := func(name string) bool { return shards[name] == nil && name != leaseCopies }
	maps.DeleteFunc(c.counts, func(shard string, _ logCopies) bool { return left(shard) })
	maps.DeleteFunc(c.fewer, func(shard string, _ bool) bool { return left(shard) })
	maps.DeleteFunc(c.leaderless, func(shard string, _ time.Time) bool { return shards[shard] == nil })
}

// stuck returns a log that has had no leader for at least the given time.
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

// copyCounter counts the copies of the logs of this node's shards, and ends the process if a log stays without a
// leader.
//
//   - The owner of a shard counts the copies of its log in each round, and the other nodes that keep it now and then.
//   - The owner of the control shard also counts the copies of the leases.
type copyCounter struct {
	*common
	members *membership
	control *controlShardReplica
	locals  *locals
	counts  copyCounts
}

// run updates the counts periodically.
func (c *copyCounter) run() {
	again := time.NewTicker(copiesInterval)
	defer again.Stop()
	for n := 0; ; n++ {
		c.countOnce(n%copiesOthers == 0)
		c.mendLeaderless()
		select {
		case <-again.C:
		case <-c.ctx.Done():
			return
		}
	}
}

// countOnce counts the copies of the logs that this node owns and reports them to the others. In some rounds it counts
// all logs that it keeps, because the owner of a log without a leader may be dead. The leases belong to the control
// shard.
func (c *copyCounter) countOnce(all bool) {
	ctx, cancel := context.WithTimeout(c.ctx, copiesTimeout)
	defer cancel()
	logs := map[string]sharedlog.Log{controlShard: c.control.log}
	for _, l := range c.locals.all() {
		logs[l.name] = l.log
	}
	c.counts.retain(logs)
	var counting sync.WaitGroup
	for name, log := range logs {
		if !all && !c.mine(name) {
			continue
		}
		counting.Go(func() {
			complete, wanted, err := c.engine.Copies(ctx, log)
			if c.ctx.Err() == nil {
				c.counts.set(name, logCopies{complete, wanted}, err)
			}
			if err != nil {
				c.log.Debug("copies of a log cannot be counted", "shard", name, "error", err)
			}
		})
	}
	if all || c.mine(controlShard) {
		counting.Go(func() { c.countLeases(ctx) })
	}
	counting.Wait()
}

// countLeases counts the copies of the leases. The owner of the control shard reports them with those of its log:
// without a majority of either, no shard gets an owner.
func (c *copyCounter) countLeases(ctx context.Context) {
	complete, wanted, err := c.engine.LeaseCopies(ctx)
	if c.ctx.Err() == nil {
		c.counts.set(leaseCopies, logCopies{complete, wanted}, nil) // unknown after an error
	}
	if err != nil {
		c.log.Debug("copies of the leases cannot be counted", "error", err)
	}
}

// mine reports whether this node owns a shard.
func (c *copyCounter) mine(name string) bool {
	o, ok := c.members.view.owner(name)
	return ok && o.Node == c.o.Name
}

// mendLeaderless ends this process if a log stays without a leader although a majority is present, and it is this
// node's turn.
func (c *copyCounter) mendLeaderless() {
	live := slices.Sorted(maps.Keys(c.members.view.live()))
	turn := max(slices.Index(live, c.o.Name), 0)
	shard, is := c.counts.stuck(leaderlessLimit + time.Duration(turn)*leaderlessStagger)
	if is && 2*len(live) > max(len(c.records.allNodes()), len(c.o.Peers)) && !c.mayNotOwn() {
		c.fail(
			fmt.Errorf(
				"the log of shard %s has had no leader for long, though most nodes are up: a new process may help to elect one",
				shard,
			),
		)
	}
}
