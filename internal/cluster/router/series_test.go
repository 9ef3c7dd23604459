package router_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// A client's empty receive is counted once, wherever it searched and whichever node has the shard.
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
		counted, err := c.emptyReceives(t)
		if err == nil && (counted[arn(wide)] != 3 || counted[arn(single)] != 3) {
			err = fmt.Errorf("counted %v", counted)
		}
		return err
	})
}

// losing is a shard whose answers to reports of empty receives are replaced.
type losing struct {
	remote.Shard
	answer func(report func() error) error
}

func (s losing) EmptyReceives(ctx context.Context, id queue.ID, n uint64) error {
	return s.answer(func() error { return s.Shard.EmptyReceives(ctx, id, n) })
}

// A report whose answer is lost may have been counted, and is not repeated. A report that certainly did not arrive is.
func TestEmptyReceivesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4, "a", "b", "c")
	const n = 2 // the shard of single
	node := c.nodes[0]
	if c.owner(n) == node {
		node = c.nodes[1]
	}
	r := c.router(node)
	reports := make(chan struct{}, 10)
	number := 0 // of the reports, one after the other
	c.stand(n, func(s remote.Shard) remote.Shard {
		return losing{s, func(report func() error) error {
			defer func() { reports <- struct{}{} }()
			switch number++; number {
			case 1:
				return shard.ErrNotBegun
			case 2:
				return errors.Join(report(), shard.ErrUnavailable)
			}
			return report()
		}}
	})
	r.EmptyReceive(single)
	<-reports
	<-reports
	r.EmptyReceive(single)
	<-reports
	c.stand(n, nil) // only the shard itself has counters
	eventually.Succeeds(t, func() error {
		counted, err := c.emptyReceives(t)
		if err == nil && counted[arn(single)] != 2 {
			err = fmt.Errorf("counted %v", counted)
		}
		return err
	})
}

// emptyReceives returns the empty receives that all nodes have counted, by queue.
func (c *cluster) emptyReceives(t *testing.T) (map[string]int64, error) {
	counted := make(map[string]int64)
	for _, node := range c.nodes {
		standings, err := c.router(node).Standings(t.Context())
		if err != nil {
			return nil, err
		}
		for _, s := range standings {
			counted[s.ARN] += s.Happened[queue.MetricEmptyReceives]
		}
	}
	return counted, nil
}

// The rows of a spread queue are added, minute by minute. For a deleted queue, all shards are read.
func TestSeriesOfSeveralShardsAreOne(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 4, "a", "b", "c")
	r := c.router("a")
	send(t, r, wide, append(numbered("m", 10), numbered("longer", 30)...)...)
	from, to := c.now().Add(-time.Minute), c.now().Add(2*time.Minute)
	if rows, err := r.Series(t.Context(), wide, arn(wide), from, to); err != nil || len(rows) != 0 {
		t.Fatalf("the minute is not over, and there are %v, %v", rows, err)
	}
	c.pass(time.Minute)
	for _, id := range []queue.ID{wide, 0} {
		eventually.Succeeds(t, func() error {
			rows, err := r.Series(t.Context(), id, arn(wide), from, to)
			if err != nil || len(rows) != 1 || rows[0].Values[queue.MetricSent].Sum != 40 ||
				rows[0].Values[queue.MetricVisible].Sum != 40 {
				return fmt.Errorf("queue %d: %v, %w", id, rows, err)
			}
			return nil
		})
	}
	rows, err := r.SizedSeries(t.Context(), wide, arn(wide), from, to)
	if err != nil || len(rows) != 1 || rows[0].Sizes == nil {
		t.Fatalf("sizes: %v, %v", rows, err)
	}
	sizes := ""
	rows[0].Sizes.Each(func(size float64, n uint64) { sizes += fmt.Sprintf("%dx%v ", n, size) })
	if sizes != "10x4 30x9 " {
		t.Errorf("sizes: %s", sizes)
	}
	names, err := r.SeriesNames(t.Context(), arn(wide), "", from)
	if err != nil || len(names) != 1 || names[0].Name != arn(wide) {
		t.Errorf("names %v, %v", names, err)
	}
}
