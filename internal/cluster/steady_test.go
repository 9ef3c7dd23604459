package cluster_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// A cluster that is well is left alone.
func TestNothingMovesWithoutReason(t *testing.T) {
	long(t)
	inWorld(t, func(w *world) {
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			w.startOne(name, "a", "b", "c", "d", "e")
		}
		all := []string{"a", "b", "c", "d", "e"}
		w.settled(all...)
		time.Sleep(30 * time.Second) // nodes that were late have their share
		before := w.settled(all...)
		time.Sleep(10 * time.Minute)
		after := w.settled(all...)
		for i, sh := range before.Shards {
			now := after.Shards[i]
			if sh.Epoch != now.Epoch || sh.Owner != now.Owner || len(sh.Replicas) != len(now.Replicas) {
				t.Errorf("shard %s was owned by %s in epoch %d, and is by %s in epoch %d", sh.Name, sh.Owner, sh.Epoch, now.Owner, now.Epoch)
			}
			if sh.Name == "control" && sh.LogLast != now.LogLast {
				t.Errorf("nothing has changed, and there are %d more records", now.LogLast-sh.LogLast)
			}
		}
	})
}

// What is trimmed is durable on a majority of those who keep the shard, whoever is
// down.
func TestTrimmedIsDurable(t *testing.T) {
	long(t)
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
			time.Sleep(30 * time.Second)
			w.kill(name)
			time.Sleep(time.Minute)
			w.start(name)
		}
		w.settled("a", "b", "c")
		fifo.finish()
		standard.finish()
		if trims.Load() == 0 {
			t.Error("nothing was trimmed")
		}
	})
}
