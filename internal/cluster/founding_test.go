package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// putOldData puts data on a machine's disk as a single server leaves it: a queue with messages.
func (w *world) putOldData(name, queueName string, bodies ...string) {
	w.t.Helper()
	m := w.machines[name]
	disk := store.NewDisk(m.disk, nil)
	records, err := store.Open(filepath.Join(m.dir, "control"), store.Options{Disk: disk, Cache: w.cache})
	w.must(err)
	c := control.New(control.Options{Store: records})
	w.must(c.Change(context.Background(), catalog.Initialise))
	cat, err := catalog.Open(catalog.Options{Control: c})
	w.must(err)
	p := &process{catalog: cat}
	w.must(p.change(&order{Create: queueName, Attributes: attributes(queueName)}))
	q := cat.Find(named(queueName))
	messages, err := store.Open(filepath.Join(m.dir, "shards", "0001"), store.Options{Disk: disk, Cache: w.cache})
	w.must(err)
	s, err := shard.Open(shard.Options{
		Store: messages, Configs: func() []queue.Config { return []queue.Config{q.Config()} },
	})
	w.must(err)
	for _, b := range bodies {
		_, err := s.Send(context.Background(), q.ID, []queue.Outgoing{{Body: b}})
		w.must(err)
	}
	s.Close()
	w.must(messages.Close())
	w.must(records.Close())
}

// take receives and deletes messages of a queue through a node until it has this many.
func (p *process) take(name string, n int) []string {
	p.world.t.Helper()
	id := p.catalog.Find(named(name)).ID
	var out []string
	p.world.eventually(fmt.Sprintf("%d messages are received from %s", n, name), func() bool {
		got, err := p.node.Router().Receive(context.Background(), id, queue.Receive{Max: 10}, time.Second)
		if err != nil {
			return false
		}
		for i := range got {
			r := queue.Receipt{Position: got[i].Position, Number: got[i].Receipt}
			results, err := p.node.Router().Delete(context.Background(), id, []queue.Receipt{r})
			switch {
			case cluster.Raced && slices.Contains(out, got[i].Body): // does has sent it twice, or it was not deleted
				continue
			case !cluster.Raced && (err != nil || results[0] != nil):
				p.world.t.Errorf("delete: %v, %v", results, err)
			}
			out = append(out, got[i].Body)
		}
		return len(out) >= n
	})
	slices.Sort(out)
	return out
}

func TestFounding(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		s := w.settled("a", "b", "c")
		owned := make(map[string]int)
		for _, sh := range s.Shards {
			if len(sh.Replicas) != 3 {
				t.Errorf("shard %s has %d replicas", sh.Name, len(sh.Replicas))
			}
			// a node that is late by a step finds a shard taken, and takes it over once
			if sh.Epoch > 2 && !cluster.Raced {
				t.Errorf("shard %s has had %d owners already", sh.Name, sh.Epoch)
			}
			owned[sh.Owner]++
		}
		for name, n := range owned {
			if n < 2 || n > 3 {
				t.Errorf("%s owns %d shards of %d", name, n, len(s.Shards))
			}
		}
	})
}

func TestFoundingWithoutOne(t *testing.T) {
	for _, missing := range []string{"a", "c"} {
		t.Run(missing, func(t *testing.T) {
			inWorld(t, func(w *world) {
				there := slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return name == missing })
				w.start(there...)
				w.settled(there...)
				traffic := w.load("work.fifo", there...)
				traffic.goesOn()
				w.start(missing)
				few := func(sh status.Shard) bool { return len(sh.Replicas) != 3 }
				w.eventually("the node that was late has its share",
					func() bool { return !slices.ContainsFunc(w.settled("a", "b", "c").Shards, few) })
				traffic.finish()
			})
		})
	}
}

func TestFounderKeepsItsData(t *testing.T) {
	inWorld(t, func(w *world) {
		w.putOldData("c", "old", "one", "two", "three")
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		if got := w.at("a").take("old", 3); !slices.Equal(got, []string{"one", "three", "two"}) {
			t.Errorf("of the old messages, %q are received", got)
		}
	})
}

// A cluster of many nodes may want to keep a shard on other nodes than its founder.
func TestFounderOfManyKeepsItsData(t *testing.T) {
	for _, founder := range []string{"a", "b", "c", "d", "e"} {
		t.Run(founder, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.putOldData(founder, "old", "one", "two", "three")
				for _, name := range []string{"a", "b", "c", "d", "e"} {
					w.startOne(name, "a", "b", "c", "d", "e")
				}
				s := w.settled("a", "b", "c", "d", "e")
				for _, sh := range s.Shards {
					if sh.Name != "control" && len(sh.Replicas) != 3 {
						t.Errorf("shard %s has %d replicas", sh.Name, len(sh.Replicas))
					}
				}
				if got := w.at("a").take("old", 3); !slices.Equal(got, []string{"one", "three", "two"}) {
					t.Errorf("of the old messages, %q are received", got)
				}
			})
		})
	}
}

// A node starts with a store of a shard that does not belong to its cluster, and that it should not keep. It leaves the
// store alone, because no other node has that data.
func TestStrangeStoreIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		names := []string{"a", "b", "c", "d"}
		for _, name := range names {
			w.startOne(name, names...)
		}
		var node, strange string
		for _, sh := range w.settled(names...).Shards {
			for _, name := range names {
				if sh.Name != "control" &&
					!slices.ContainsFunc(sh.Replicas, func(r status.Replica) bool { return r.Node == name }) {
					node, strange = name, sh.Name
				}
			}
		}
		w.stop(node)
		m := w.machines[node]
		disk := store.NewDisk(m.disk, nil)
		dir := filepath.Join(m.dir, "shards", strange)
		s, err := store.Open(dir, store.Options{Disk: disk, Cache: w.cache})
		w.must(err)
		tx := s.Begin()
		tx.Set([]byte("key"), []byte("value"))
		w.must(s.Commit(tx))
		tx.Release()
		w.must(s.Close())
		w.startOne(node, names...)
		w.settled(names...)
		w.pause(10 * time.Second)
		if there, err := store.Exists(disk, dir); err != nil || !there {
			t.Errorf("the store of shard %s at node %s is removed: %v", strange, node, err)
		}
	})
}

// The founder may take long to bring in its data. Meanwhile no other node takes the shard, however well placed it is.
func TestFounderIsWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.putOldData("d", "old", "one", "two", "three") // d is not to keep the first shard
		later := time.Now().Add(10 * time.Second)
		w.taking = func(lease string) {
			if lease == replica.LeaseName("0001") {
				time.Sleep(time.Until(later))
			}
		}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			w.startOne(name, "a", "b", "c", "d", "e")
		}
		w.settled("a", "b", "c", "d", "e")
		if got := w.at("a").take("old", 3); !slices.Equal(got, []string{"one", "three", "two"}) {
			t.Errorf("of the old messages, %q are received", got)
		}
	})
}

func TestTwoWithDataAreRefused(t *testing.T) {
	inWorld(t, func(w *world) {
		w.putOldData("b", "old", "one")
		w.putOldData("c", "other", "two")
		w.start("a", "b", "c")
		refused := ""
		w.eventually("one of them is refused", func() bool {
			for _, name := range []string{"b", "c"} {
				p := w.machines[name].process
				select {
				case <-p.ready:
					if p.err != nil {
						if !strings.Contains(p.err.Error(), "start this node with an empty one") {
							t.Errorf("node %s gives an unexpected answer: %v", name, p.err)
						}
						refused = name
					}
				default:
				}
			}
			return refused != ""
		})
		kept, name, body := "b", "old", "one"
		if refused == "b" {
			kept, name, body = "c", "other", "two"
		}
		w.kill(refused)
		if _, err := os.Stat(filepath.Join(w.machines[refused].dir, datadir.NodeFile)); !errors.Is(err,
			os.ErrNotExist) {
			t.Errorf("the directory that was refused belongs to a node now: %v", err)
		}
		w.settled("a", kept)
		if got := w.at("a").take(name, 1); !slices.Equal(got, []string{body}) {
			t.Errorf("of the founder's messages, %q are received", got)
		}
		w.wipe(refused)
		w.start(refused)
		w.settled("a", "b", "c")
	})
}

func TestNodeSaysWhomItWaitsFor(t *testing.T) {
	inWorld(t, func(w *world) {
		var mu sync.Mutex
		var said []string
		w.options = func(o *cluster.Options) {
			o.Waiting = func(what string) {
				mu.Lock()
				defer mu.Unlock()
				said = append(said, what)
			}
		}
		w.start("a")
		time.Sleep(10 * time.Second)
		w.start("b", "c")
		w.settled("a", "b", "c")
		mu.Lock()
		defer mu.Unlock()
		if len(said) == 0 || said[0] != "waiting for a majority of the nodes: b, c" {
			t.Errorf("it says %q", said)
		}
	})
}

func TestDirectoryOfAnotherCluster(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.stop("c")
		w.options = func(o *cluster.Options) { o.Cluster = "another" }
		p := w.startOne("c", "a", "b", "c")
		<-p.ready
		if p.err == nil || !strings.Contains(p.err.Error(), "belongs to the node c of the cluster test") {
			t.Errorf("a directory of another cluster: %v", p.err)
		}
		w.kill("c")
	})
}

func TestTwoProcessesWithOneName(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		first := w.at("c")
		dir, disk := w.machines["c"].dir, w.machines["c"].disk
		w.mu.Lock()
		w.machines["c"].duplicate = first
		w.mu.Unlock()
		w.wipe("c") // another machine of that name
		second := w.startOne("c", "a", "b", "c")
		<-second.ready
		if second.err == nil || !strings.Contains(second.err.Error(), "another process") {
			t.Errorf("a second process of the same name: %v", second.err)
		}
		w.kill("c")
		w.mu.Lock()
		w.machines["c"].dir, w.machines["c"].disk, w.machines["c"].process, w.machines["c"].duplicate = dir, disk,
			first, nil
		w.mu.Unlock()
		w.settled("a", "b", "c")
		if len(w.forgotten) > 0 {
			t.Errorf("the engine forgot %v", w.forgotten)
		}
	})
}
