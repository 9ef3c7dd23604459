package cluster_test

import (
	"testing"
	"time"
)

// inTurn disturbs each of three nodes in turn, under load: traffic continues afterwards, recover restores the node, and
// at the end no message is missing.
func inTurn(t *testing.T, disturb, recover func(w *world, node string)) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for _, node := range []string{"a", "b", "c"} {
			fifo.goesOn()
			disturb(w, node)
			fifo.goesOn()
			standard.goesOn()
			recover(w, node)
			w.settled("a", "b", "c")
		}
		fifo.finish()
		standard.finish()
	})
}

func TestPlannedStop(t *testing.T) {
	inTurn(t, func(w *world, node string) { w.stop(node) }, func(w *world, node string) { w.start(node) })
}

func TestDeadNode(t *testing.T) {
	inTurn(t, func(w *world, node string) { w.kill(node) }, func(w *world, node string) {
		w.pause(time.Minute)
		w.start(node)
	})
}

func TestCutOff(t *testing.T) {
	inTurn(t, func(w *world, node string) {
		w.cut(node, true)
		w.pause(time.Minute)
		if err := w.at(node).node.Current(); err == nil {
			t.Errorf("%s is cut off and has not noticed", node)
		}
	}, func(w *world, node string) {
		w.cut(node, false)
		w.eventually("it is back", func() bool { return w.at(node).node.Current() == nil })
	})
}

// For each shard, only the node that owns it delivers messages of topics.
func TestDeliversWhereOwned(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		s := w.settled("a", "b", "c")
		all := func(nodes ...string) {
			t.Helper()
			w.eventually("each shard has one deliverer", func() bool {
				sum := int64(0)
				for _, node := range nodes {
					sum += w.at(node).delivering.Load()
				}
				return sum == int64(len(s.Shards)-1) // all but the control shard
			})
		}
		all("a", "b", "c")
		b := w.at("b")
		w.stop("b")
		if n := b.delivering.Load(); n != 0 {
			t.Errorf("a node that has stopped delivers from %d shards", n)
		}
		all("a", "c")
		w.kill("c")
		w.start("b")
		all("a", "b")
	})
}
