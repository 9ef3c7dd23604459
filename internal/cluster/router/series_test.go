package router_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// A client's receive that gave nothing is counted once, wherever it looked and whichever
// node has the shard.
func TestEmptyReceivesAreCountedOnce(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4, "a", "b", "c")
	for _, node := range c.nodes {
		r := c.router(node)
		if got, err := r.Receive(t.Context(), wide, queue.Receive{Max: 1}, 0); err != nil || len(got) > 0 {
			t.Fatalf("%v, %v", got, err)
		}
		r.EmptyReceive(wide)
		r.EmptyReceive(single)
	}
	eventually.Succeeds(t, func() error {
		counted := make(map[string]int64)
		for _, node := range c.nodes {
			standings, err := c.router(node).Standings(t.Context())
			if err != nil {
				return err
			}
			for _, s := range standings {
				counted[s.ARN] += s.Happened[queue.MetricEmptyReceives]
			}
		}
		if counted[arn(wide)] != 3 || counted[arn(single)] != 3 {
			return fmt.Errorf("counted %v", counted)
		}
		return nil
	})
}

// The rows of a queue that is spread over several shards are added, minute by minute. All
// shards are asked for what is left of a queue that is gone.
func TestSeriesOfSeveralShardsAreOne(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4, "a", "b", "c")
	r := c.router("a")
	send(t, r, wide, numbered("m", 40)...)
	from, to := c.now().Add(-time.Minute), c.now().Add(2*time.Minute)
	if rows, err := r.Series(t.Context(), wide, arn(wide), from, to); err != nil || len(rows) != 0 {
		t.Fatalf("the minute is not over, and there are %v, %v", rows, err)
	}
	c.pass(time.Minute)
	for _, id := range []queue.ID{wide, 0} {
		eventually.Succeeds(t, func() error {
			rows, err := r.Series(t.Context(), id, arn(wide), from, to)
			if err != nil || len(rows) != 1 || rows[0].Values[queue.MetricSent].Sum != 40 || rows[0].Values[queue.MetricVisible].Sum != 40 {
				return fmt.Errorf("queue %d: %v, %w", id, rows, err)
			}
			return nil
		})
	}
	names, err := r.SeriesNames(t.Context(), arn(wide), "", from)
	if err != nil || len(names) != 1 || names[0].Name != arn(wide) {
		t.Errorf("names %v, %v", names, err)
	}
}
