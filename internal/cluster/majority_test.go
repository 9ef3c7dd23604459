package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// prompt is the time within which a client learns that a request is impossible now: a log has three seconds to answer,
// then the router looks two and a half seconds for an owner whose log answers, and may have started with another owner
// at the end.
var prompt = slack * 9 * time.Second

func TestMajorityLost(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		fifo.goesOn()
		for range either(2, 1) {
			// When all nodes are cut off from each other, there is no majority.
			for _, name := range []string{"a", "b", "c"} {
				w.cut(name, true)
			}
			time.Sleep(5 * failover / 2)
			for _, name := range []string{"a", "b", "c"} {
				if w.at(name).node.Probe(context.Background()) == nil {
					t.Errorf("%s says that it is ready", name)
				}
				w.refusedPromptly(name, "work.fifo")
				began := time.Now()
				if err := w.at(name).create(fmt.Sprintf("late-%d", time.Now().Unix()), nil); err == nil {
					t.Errorf("a queue was created through %s", name)
				}
				if took := time.Since(began); took > prompt && !w.busy() {
					t.Errorf("%s answers after %v", name, took)
				}
			}
			w.pause(time.Minute)
			for _, name := range []string{"a", "b", "c"} {
				w.refusedPromptly(name, "work")
				w.cut(name, false)
			}
			w.settled("a", "b", "c")
			fifo.goesOn()
			standard.goesOn()
			for _, name := range []string{"a", "b", "c"} {
				w.eventually(name+" is ready",
					func() bool { return w.at(name).node.Probe(context.Background()) == nil })
			}
		}
		fifo.finish()
		standard.finish()
		for _, x := range []*traffic{fifo, standard} {
			if x.slowest > prompt && !w.busy() {
				t.Errorf("%s: an answer has taken %v", x.queue, x.slowest)
			}
		}
	})
}

// If a log finds no leader although the nodes are there, their processes end in turn until it has one.
func TestLeaderlessLog(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.mu.Lock()
		w.leaderless = "0002"
		w.mu.Unlock()
		began := time.Now()
		for _, name := range []string{"a", "b"} {
			<-w.at(name).node.Failed()
			if err := w.at(name).node.Err(); !strings.Contains(err.Error(), "the log of shard 0002 has had no leader") {
				t.Errorf("%s ends with %v", name, err)
			}
			after := time.Since(began)
			early := name == "a" && after < 40*time.Second || name == "b" && after < time.Minute
			late := name == "a" && after > time.Minute && !cluster.Raced // in real time a busy machine may need more
			if early || late {
				t.Errorf("%s ends after %v", name, after)
			}
		}
		w.mu.Lock()
		w.leaderless = ""
		w.mu.Unlock()
		time.Sleep(25 * time.Second)
		if err := w.at("c").node.Err(); err != nil {
			t.Errorf("c ends, too: %v", err)
		}
	})
}

// refusedPromptly checks that a node does not keep clients waiting for an impossible request.
func (w *world) refusedPromptly(name, queueName string) {
	w.t.Helper()
	p := w.at(name)
	id := p.catalog.Find(named(queueName)).ID
	for what, call := range map[string]func() error{
		"receive": func() error {
			_, err := p.node.Router().Receive(context.Background(), id, queue.Receive{Max: 1}, 0)
			return err
		},
		"counts": func() error {
			_, err := p.node.Router().Counts(context.Background(), id)
			return err
		},
	} {
		began := time.Now()
		err := call()
		if !errors.Is(err, shard.ErrUnavailable) {
			w.t.Errorf("%s through %s without a majority: %v", what, name, err)
		}
		if took := time.Since(began); took > prompt && !w.busy() {
			w.t.Errorf("%s through %s without a majority is answered after %v", what, name, took)
		}
	}
}

func TestControlOwnerDiesDuringChanges(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		for round := range 4 {
			s := w.settled("a", "b", "c")
			owner := ""
			for _, sh := range s.Shards {
				if sh.Name == "control" {
					owner = sh.Owner
				}
			}
			made := make(map[string]bool)
			through := map[string]string{"a": "b", "b": "c", "c": "a"}[owner]
			die := time.After(time.Duration(round) * 30 * time.Millisecond)
			for i := 0; i < 300; i++ {
				select {
				case <-die:
					w.kill(owner)
				default:
				}
				name := fmt.Sprintf("q-%d-%d", round, i)
				if w.at(through).create(name, nil) == nil {
					made[name] = true
				}
				time.Sleep(10 * time.Millisecond)
				if i > 30 && len(made) > 30 {
					break
				}
			}
			w.start(owner)
			w.settled("a", "b", "c")
			for _, node := range []string{"a", "b", "c"} {
				w.does(func() error { return w.at(node).node.CatchUp(context.Background()) })
				for name := range made {
					if w.at(node).catalog.Find(named(name)) == nil {
						t.Errorf("%s does not know %s, whose creation was acknowledged", node, name)
					}
				}
			}
			if len(made) < 10 {
				t.Errorf("only %d queues could be created", len(made))
			}
		}
	})
}

func TestAllRestart(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		fifo, standard := w.load("work.fifo", "a", "b", "c"), w.load("work", "a", "b", "c")
		for i := range 3 {
			fifo.goesOn()
			if i == 2 {
				w.pause(time.Minute) // the logs are trimmed
			}
			for _, name := range []string{"a", "b", "c"} {
				w.kill(name)
			}
			w.start("a", "b", "c")
			w.settled("a", "b", "c")
		}
		fifo.finish()
		standard.finish()
	})
}
