//go:build !race

package cluster_test

// In real time a send may have to be made again, and is counted again.

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
)

// A queue that is deleted while some of its shards have no owner keeps what was counted of it on all of them, also when
// a queue is made under its name in the same minute, and deleted likewise.
func TestQueueIsDeletedWhileItsShardsMove(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *cluster.Options) { o.Keep = queue.DefaultKeep }
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		began := time.Now()
		w.does(func() error { return w.at("a").create("first", map[string]string{catalog.TagShards: "3"}) })
		w.eventually("all nodes have the format", func() bool {
			w.at("a").send("first", "warm")
			for _, name := range []string{"a", "b", "c"} {
				if f, err := datadir.ReadFormat(w.machines[name].dir); err != nil || f.Number < formats.Names {
					return false
				}
			}
			return true
		})
		const sent = 30
		for range 2 {
			owner := w.controlOwner()
			victim := map[string]string{"a": "b", "b": "c", "c": "a"}[owner]
			w.does(func() error { return w.at(owner).create("gone", map[string]string{catalog.TagShards: "3"}) })
			for i := range sent {
				w.at(owner).send("gone", fmt.Sprint(i))
			}
			w.kill(victim)
			w.does(func() error { return w.at(owner).delete("gone") })
			w.start(victim)
			w.settled("a", "b", "c")
		}
		var got uint64
		w.eventually("all is counted", func() bool {
			rows, err := w.at("a").node.Router().Series(context.Background(), 0, named("gone").ARN(), queue.At(began.Add(-time.Hour)), queue.At(time.Now().Add(time.Hour)))
			got = 0
			for _, r := range rows {
				got += r.Values[queue.MetricSent].Sum
			}
			return err == nil && got >= 2*sent
		})
		if got != 2*sent {
			t.Errorf("%d messages were counted, %d sent", got, 2*sent)
		}
	})
}
