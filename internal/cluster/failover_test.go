package cluster_test

import (
	"testing"
	"time"
)

// inTurn disturbs one of three nodes after the other, under load: messages go on
// afterwards, recover brings the node back, and at the end nothing is missing.
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
			t.Errorf("%s is cut off and does not know", node)
		}
	}, func(w *world, node string) {
		w.cut(node, false)
		w.eventually("it is back", func() bool { return w.at(node).node.Current() == nil })
	})
}
