package cluster_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
)

// command runs an operation on the owner of the control shard.
func (w *world) command(f func(*cluster.Node) error) {
	w.t.Helper()
	w.eventually("the owner of the control shard does it", func() bool {
		for name := range w.machines {
			p := w.serving(name)
			if p == nil || p.node.Control().Elsewhere() {
				continue
			}
			err := f(p.node)
			if err != nil && !errors.Is(err, control.ErrElsewhere) && !errors.Is(err, control.ErrUnavailable) {
				w.t.Fatal(err)
			}
			return err == nil
		}
		return false
	})
}

// keeps reports which shards with messages a node should keep.
func keeps(s status.Status, node string) (shards []string) {
	for _, sh := range s.Shards {
		if sh.Name != "control" &&
			slices.ContainsFunc(sh.Replicas, func(r status.Replica) bool { return r.Node == node }) {
			shards = append(shards, sh.Name)
		}
	}
	return shards
}

func owns(s status.Status, node string) (shards []string) {
	for _, sh := range s.Shards {
		if sh.Owner == node {
			shards = append(shards, sh.Name)
		}
	}
	return shards
}

func TestQueueIsKnownEverywhereAtOnce(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		for _, name := range []string{"a", "b", "c"} {
			w.does(func() error { return w.at(name).create("from-"+name, nil) })
			for _, other := range []string{"a", "b", "c"} {
				p := w.at(other)
				// what a server does before it says that there is none
				w.does(func() error { return p.node.CatchUp(context.Background()) })
				q := p.catalog.Find(named("from-" + name))
				if q == nil {
					t.Fatalf("%s does not know the queue that was created through %s", other, name)
				}
				began := time.Now()
				p.send("from-"+name, other)
				if took := time.Since(began); took > slack*time.Second && !w.busy() {
					t.Errorf("the first message took %v", took)
				}
			}
			if got := w.at(name).take("from-"+name, 3); !slices.Equal(got, []string{"a", "b", "c"}) {
				t.Errorf("received %v", got)
			}
		}
	})
}

func TestDrain(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo := w.load("work.fifo", "a", "b", "c")
		for _, name := range []string{"b", "a"} { // a owns the control shard by now
			w.command(func(n *cluster.Node) error { return n.Drain(t.Context(), name, true) })
			others := slices.DeleteFunc([]string{"a", "b", "c"}, func(other string) bool { return other == name })
			w.eventually(name+" owns nothing", func() bool {
				s := w.at("c").node.Status()
				return len(owns(s, name)) == 0 && well(s, others)
			})
			if s := w.at("c").node.Status(); len(keeps(s, name)) != 6 {
				t.Errorf("%s is drained, and there is no other node; it keeps %v", name, keeps(s, name))
			}
			fifo.goesOn()
			w.stop(name)
			fifo.goesOn()
			w.start(name)
			w.command(func(n *cluster.Node) error { return n.Drain(t.Context(), name, false) })
			w.eventually(name+" has its share", func() bool {
				s := w.at("c").node.Status()
				return len(owns(s, name)) >= 2 && well(s, []string{"a", "b", "c"})
			})
		}
		fifo.finish()
	})
}

func TestFourthNodeAndRemoval(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		fifo.goesOn()
		w.pause(time.Minute) // the logs are trimmed
		w.startOne("d", "a", "b", "c", "d")
		w.eventually("the fourth node has its share", func() bool {
			s := w.settled("a", "b", "c", "d")
			return len(keeps(s, "d")) > 0 && len(owns(s, "d")) > 0
		})
		w.eventually("data of shards that are kept elsewhere are removed", func() bool {
			return w.stores("a")+w.stores("b")+w.stores("c")+w.stores("d") == 3*6
		})
		// One that is gone for good.
		w.command(func(n *cluster.Node) error { return n.Drain(t.Context(), "b", true) })
		w.eventually("the others keep all", func() bool { return len(keeps(w.settled("a", "b", "c", "d"), "b")) == 0 })
		w.stop("b")
		time.Sleep(10 * time.Second)
		w.command(func(n *cluster.Node) error { return n.Remove(t.Context(), "b") })
		w.eventually("it is forgotten", func() bool {
			for _, n := range w.at("a").node.Status().Nodes {
				if n.Name == "b" {
					return false
				}
			}
			return len(w.gone()) == 1
		})
		fifo.through("a", "c", "d")
		standard.through("a", "c", "d")
		fifo.goesOn()
		// Some time after a node is forgotten, its replicas get new places.
		w.eventually("each shard has three replicas", func() bool {
			return !slices.ContainsFunc(w.settled("a", "c", "d").Shards,
				func(sh status.Shard) bool { return len(sh.Replicas) != 3 })
		})
		// It returns with its old data, and is refused.
		w.start("b")
		back := w.machines["b"].process
		w.eventually("it is refused", func() bool {
			err := back.failure()
			return err != nil && strings.Contains(err.Error(), "empty the data directory")
		})
		w.kill("b")
		w.eventually("it is forgotten once more", func() bool { return len(w.gone()) == 2 })
		// With an empty disk it is a new node.
		w.wipe("b")
		w.start("b")
		w.eventually("it has its share", func() bool { return len(owns(w.settled("a", "b", "c", "d"), "b")) > 0 })
		fifo.finish()
		standard.finish()
	})
}

func TestWipedNode(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for i, name := range []string{"a", "c"} {
			w.pause(time.Minute)
			server := w.at(name).server
			w.kill(name)
			w.wipe(name)
			w.start(name)
			w.settled("a", "b", "c")
			fifo.goesOn()
			w.eventually("its old server is forgotten", func() bool { return len(w.gone()) == i+1 })
			if got := w.gone()[i]; got != server {
				t.Errorf("the engine forgets %s, not %s", got, server)
			}
		}
		fifo.finish()
		standard.finish()
	})
}

// replaceAfter is the time after which another node replaces one that is away.
var replaceAfter = either(time.Minute, 20*time.Second)

func TestNodeThatIsAwayForLong(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *cluster.Options) { o.ReplaceAfter = replaceAfter }
		for _, name := range []string{"a", "b", "c", "d"} {
			w.startOne(name, "a", "b", "c", "d")
		}
		w.settled("a", "b", "c", "d")
		fifo := w.load("work.fifo", "b", "c", "d")
		server := w.at("a").server
		w.kill("a")
		w.pause(50 * time.Second)
		if s := w.at("b").node.Status(); len(keeps(s, "a")) == 0 || len(w.gone()) > 0 {
			t.Errorf("it is replaced already: %v, %v", keeps(s, "a"), w.gone())
		}
		w.eventually("others have its replicas", func() bool {
			return len(keeps(w.settled("b", "c", "d"), "a")) == 0 && len(w.gone()) == 1
		})
		w.pause(time.Minute)
		if got := w.gone(); !slices.Equal(got, []string{server}) {
			t.Errorf("the engine forgot %v", got)
		}
		fifo.goesOn()
		w.startOne("a", "a", "b", "c", "d")
		w.eventually("it has its share", func() bool { return len(owns(w.settled("a", "b", "c", "d"), "a")) > 0 })
		w.eventually("stores that it no longer keeps are removed", func() bool {
			return w.stores("a")+w.stores("b")+w.stores("c")+w.stores("d") == 3*6
		})
		// The next time, too.
		w.kill("a")
		w.eventually("its server is forgotten once more", func() bool { return len(w.gone()) == 2 })
		fifo.finish()
	})
}

// With three nodes no other can replace one.
func TestNodeIsNotGivenUpByTwo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *cluster.Options) { o.ReplaceAfter = replaceAfter }
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.kill("a")
		w.pause(3 * time.Minute)
		if got := w.gone(); len(got) > 0 {
			t.Errorf("the engine forgot %v", got)
		}
		w.start("a")
		w.settled("a", "b", "c")
	})
}
