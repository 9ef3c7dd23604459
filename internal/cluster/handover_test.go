package cluster_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
)

// A node that hears from all others and cannot append is handed the control shard, because it should own it. It cannot
// keep the shard, and gets it less and less often.
func TestHandOverToOneThatCannotCommit(t *testing.T) {
	if testing.Short() || cluster.Raced {
		t.Skip("it lasts twenty minutes, which take seconds only in a bubble")
	}
	for _, failover := range []time.Duration{cluster.MinFailover, cluster.DefaultFailover, cluster.ExternalFailover,
		cluster.MaxFailover} {
		t.Run(failover.String(), func(t *testing.T) {
			inWorldOf(t, failover, handOverToOneThatCannotCommit)
		})
	}
}

func handOverToOneThatCannotCommit(w *world) {
	w.start("a", "b", "c")
	w.settled("a", "b", "c")
	muted := w.controlOwner() // it should own it
	w.mute = func(node, shard string) bool { return node == muted && shard == "control" }
	for n := range 20 {
		_ = w.at(muted).create(fmt.Sprint("queue", n), nil)
		w.pause(time.Minute)
	}
	w.eventually("the control store can be changed", func() bool {
		return w.at(w.controlOwner()).create("after", nil) == nil
	})
	given := int64(0)
	for _, node := range []string{"a", "b", "c"} {
		given += w.at(node).node.Status().HandOvers
	}
	if given > 12 {
		w.t.Errorf("%d hand-overs in 20 minutes", given)
	}
}
