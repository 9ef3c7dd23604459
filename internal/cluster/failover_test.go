package cluster_test

import (
	"testing"
	"time"
)

func TestPlannedStop(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for _, name := range []string{"a", "b", "c"} {
			fifo.goesOn()
			w.stop(name)
			fifo.goesOn()
			standard.goesOn()
			w.start(name)
			w.settled("a", "b", "c")
		}
		fifo.finish()
		standard.finish()
	})
}

func TestDeadNode(t *testing.T) {
	long(t)
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for _, name := range []string{"a", "b", "c"} {
			fifo.goesOn()
			w.kill(name)
			fifo.goesOn()
			standard.goesOn()
			time.Sleep(time.Minute)
			w.start(name)
			w.settled("a", "b", "c")
		}
		fifo.finish()
		standard.finish()
	})
}

func TestCutOff(t *testing.T) {
	long(t)
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for _, name := range []string{"a", "b", "c"} {
			fifo.goesOn()
			w.cut(name, true)
			time.Sleep(time.Minute)
			if err := w.at(name).node.Current(); err == nil {
				t.Errorf("%s is cut off and does not know", name)
			}
			fifo.goesOn()
			w.cut(name, false)
			w.settled("a", "b", "c")
			w.eventually("it is back", func() bool { return w.at(name).node.Current() == nil })
		}
		fifo.finish()
		standard.finish()
	})
}
