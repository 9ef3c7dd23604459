//go:build !race

package cluster_test

// In real time a send may be repeated, and counts again.

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
)

// While a node of a cluster runs a program that cannot read the distribution of message sizes, no node writes it. They
// start when that node runs the new program.
func TestSizesWaitForAllNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		old := true
		w.options = func(o *cluster.Options) {
			o.Keep = queue.DefaultKeep
			if o.Name == "c" && old {
				o.Reads = formats.Sizes - 1
			}
		}
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.does(func() error { return w.at("a").create("jobs", map[string]string{catalog.TagShards: "3"}) })
		formatOf := func(name string) int {
			f, err := datadir.ReadFormat(w.machines[name].dir)
			w.must(err)
			return f.Number
		}
		send := func() {
			for i := range 12 {
				w.at("a").send("jobs", strings.Repeat("x", 1+i%4))
			}
		}
		// sized returns the number of minutes whose message sizes are known, and of those whose sizes are not.
		sized := func() (known, unknown int) {
			from, to := queue.At(time.Now().Add(-time.Hour)), queue.At(time.Now().Add(time.Hour))
			rows, err := w.at("a").node.Router().SizedSeries(context.Background(), 0, named("jobs").ARN(), from, to)
			w.must(err)
			for _, r := range rows {
				switch {
				case r.Values[queue.MetricSent].Sum == 0:
				case r.Sizes != nil:
					known++
				default:
					unknown++
				}
			}
			return known, unknown
		}
		w.eventually("all nodes count by the formats that all read", func() bool {
			send()
			return formatOf("a") >= formats.Names && formatOf("b") >= formats.Names && formatOf("c") >= formats.Names
		})
		for range 3 {
			w.pause(time.Minute)
			send()
		}
		for _, name := range []string{"a", "b", "c"} {
			if got := formatOf(name); got >= formats.Sizes {
				t.Errorf("beside an older node, the directory of %s has the format %d", name, got)
			}
		}
		if known, unknown := sized(); known > 0 || unknown == 0 {
			t.Errorf("beside an older node, the sizes of %d minutes are known, of %d not", known, unknown)
		}
		old = false
		w.kill("c")
		w.start("c")
		w.settled("a", "b", "c")
		w.eventually("sizes are known", func() bool {
			send()
			w.pause(time.Minute)
			known, _ := sized()
			// Only nodes whose shards got messages of several sizes in a minute have the format.
			return known > 0 && max(formatOf("a"), formatOf("b"), formatOf("c")) == formats.Sizes
		})
	})
}

// A queue is deleted while some of its shards have no owner. It keeps the counts of all shards, even if a queue of the
// same name is created in the same minute and deleted in the same way.
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
			rows, err := w.at("a").node.Router().Series(context.Background(), 0, named("gone").ARN(),
				queue.At(began.Add(-time.Hour)), queue.At(time.Now().Add(time.Hour)))
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
