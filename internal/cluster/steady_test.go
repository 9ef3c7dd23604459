package cluster_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// A healthy cluster is left alone.
func TestNothingMovesWithoutReason(t *testing.T) {
	inWorld(t, func(w *world) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			w.startOne(name, "a", "b", "c", "d", "e")
		}
		all := []string{"a", "b", "c", "d", "e"}
		w.settled(all...)
		w.pause(30 * time.Second) // nodes that were late have their share
		for {
			w.busy()
			before := w.settled(all...)
			w.pause(10 * time.Minute)
			after := w.settled(all...)
			moved := whatMoved(before, after)
			if len(moved) == 0 {
				return
			}
			if !w.busy() {
				t.Fatal(strings.Join(moved, "\n"))
			}
		}
	})
}

// whatMoved names the shards that have another owner or another number of replicas in the second status, and reports
// changes of the cluster's records.
func whatMoved(before, after status.Status) (moved []string) {
	for i, sh := range before.Shards {
		now := after.Shards[i]
		if sh.Epoch != now.Epoch || sh.Owner != now.Owner || len(sh.Replicas) != len(now.Replicas) {
			moved = append(moved,
				fmt.Sprintf("shard %s was owned by %s in epoch %d, and is by %s in epoch %d", sh.Name, sh.Owner,
					sh.Epoch, now.Owner, now.Epoch))
		}
		if sh.Name == "control" && sh.LogLast != now.LogLast {
			moved = append(moved,
				fmt.Sprintf("nothing has changed, and there are %d more records", now.LogLast-sh.LogLast))
		}
	}
	return moved
}

// Trimmed records are durable on a majority of the nodes that keep the shard, whichever node is down.
func TestTrimmedIsDurable(t *testing.T) {
	inWorld(t, func(w *world) {
		var trims atomic.Int64
		w.trimmed = func(shard string, to sharedlog.Position) {
			trims.Add(1)
			const replicas = 3
			durable := 0
			for name, m := range w.machines {
				has := m.durable[shard]
				if p := w.serving(name); p != nil {
					has = max(has, durableOf(p)[shard])
				}
				if has >= int64(to) {
					durable++
				}
			}
			if 2*durable <= replicas {
				t.Errorf("shard %s is trimmed to %d, which %d of %d have", shard, to, durable, replicas)
			}
		}
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for _, name := range []string{"a", "b", "c"} {
			w.pause(30 * time.Second)
			w.kill(name)
			w.pause(time.Minute)
			w.start(name)
		}
		w.settled("a", "b", "c")
		w.eventually("a log is trimmed", func() bool { return trims.Load() > 0 })
		fifo.finish()
		standard.finish()
	})
}
