package cluster

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/status"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// newDirector returns the director of node a, which may change the control store.
func newDirector(t *testing.T) *director {
	t.Helper()
	members := meet(t, "a")["a"]
	members.o.Shards, members.o.ReplaceAfter, members.o.Disk = DefaultShards, time.Minute, store.NewMemoryDisk(nil)
	records, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = records.Close() })
	d := &director{
		common: members.common, members: members, store: control.New(control.Options{Store: records}),
		alarm: newAlarm(),
	}
	if err := d.store.Register(KeyPrefix, d.records); err != nil {
		t.Fatal(err)
	}
	return d
}

// hear reports nodes to the director whose replicas of all shards are ready. All logs are complete.
func (d *director) hear(nodes ...string) {
	for _, name := range nodes {
		d.hearOf(heartbeat{Node: name, Incarnation: name + "1"})
	}
}

func (d *director) hearOf(h heartbeat) {
	h.Shards = map[string]replica.Status{controlShard: {Role: replica.Follower, Applied: 1}}
	for i := range DefaultShards {
		h.Shards[shardName(i+1)] = replica.Status{Role: replica.Follower, Applied: 1}
	}
	if h.Copies == nil {
		h.Copies = make(map[string]logCopies)
		for name := range h.Shards {
			h.Copies[name] = logCopies{Complete: copies, Wanted: copies}
		}
	}
	d.members.record(h)
}

// hearBroken is hear with a log that has only some of its copies.
func (d *director) hearBroken(complete int, nodes ...string) {
	for _, name := range nodes {
		h := heartbeat{
			Node: name, Incarnation: name[:1] + "1", Copies: map[string]logCopies{controlShard: {copies, copies}},
		}
		if len(name) > 1 {
			h.Node, h.Incarnation = name[:1], name
		}
		for i := range DefaultShards {
			h.Copies[shardName(i+1)] = logCopies{copies, copies}
		}
		// the log has no leader, and the shard no owner
		if h.Copies["0001"] = (logCopies{complete, copies}); complete == 0 {
			delete(h.Copies, "0001")
		}
		d.hearOf(h)
	}
}

// While a log lacks a majority of its copies, nodes that are away may have acknowledged records: the director gives
// none of them up and forgets no server, unless an operator asks for it or there is nothing to wait for.
func TestDirectorWaitsForMajorities(t *testing.T) {
	for _, complete := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			d := newDirector(t)
			d.hear("a", "b", "c", "d", "e")
			d.settle(t)
			pass := func(passed time.Duration, complete int, nodes ...string) {
				for range passed / time.Second {
					time.Sleep(time.Second)
					d.hearBroken(complete, nodes...)
					d.settle(t)
				}
			}
			pass(2*d.o.ReplaceAfter, complete, "a", "b", "c")
			if got := d.records.allGone(); len(got) > 0 {
				t.Errorf("with %d copies, to be forgotten are %v", complete, got)
			}
			pass(10*d.times.silence, complete, "a", "b2", "c")
			if r, _ := d.records.node("b"); r.Incarnation != "b1" || len(d.records.allGone()) > 0 {
				t.Errorf("with %d copies, b is %+v, and %v to be forgotten", complete, r, d.records.allGone())
			}
			if err := d.remove(t.Context(), "e"); err != nil {
				t.Fatal(err)
			}
			if got := d.records.allGone(); !slices.Equal(got, []string{incarnation{Node: "e", ID: "e1"}.server()}) {
				t.Errorf("after the removal of e, to be forgotten are %v", got)
			}
			pass(10*d.times.silence, complete, "a", "b2", "c", "d")
			if r, _ := d.records.node("b"); r.Incarnation != "b2" {
				t.Errorf("all nodes are there, and b is %+v", r)
			}
			pass(2*d.o.ReplaceAfter, 2, "a", "b2", "c")
			if r, _ := d.records.node("d"); !r.GivenUp {
				t.Errorf("there is a majority of each log, and d is %+v", r)
			}
		})
	}
}

// settle lets the director decide until it changes nothing more.
func (d *director) settle(t *testing.T) {
	t.Helper()
	for range 100 {
		before := d.store.Version()
		if err := d.store.Change(t.Context(), d.decide); err != nil {
			t.Fatal(err)
		}
		if d.store.Version() == before {
			return
		}
	}
	t.Fatalf("it never settles: %+v", d.records.allShards())
}

// kept returns the number of shards with messages that a node should keep.
func (d *director) kept(node string) (n int) {
	for name, r := range d.records.allShards() {
		if name != controlShard && slices.Contains(r.Replicas, node) {
			n++
		}
	}
	return n
}

// A new director may still count a dead process as alive whose successor is already recorded.
func TestDeadProcessDoesNotReplaceItsSuccessor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirector(t)
		d.hear("a", "b", "c")
		d.settle(t)
		successor := nodeRecord{Incarnation: "c2"}
		if err := d.store.Change(t.Context(),
			func(tx *control.Tx) error { put(tx, keyNode+"c", successor); return nil }); err != nil {
			t.Fatal(err)
		}
		for range 10 { // c1 is dead; c2 has been heard from, and does not count until c1 counts as dead
			d.settle(t)
			d.hear("a", "b")
			d.hearOf(heartbeat{Node: "c", Incarnation: "c2"})
			time.Sleep(d.times.silence / 4)
		}
		d.settle(t)
		if got, _ := d.records.node("c"); got != successor || d.records.removed(incarnation{Node: "c", ID: "c2"}) {
			t.Errorf("the dead process has replaced its successor: %+v", got)
		}
	})
}

func TestDirectorFounds(t *testing.T) {
	d := newDirector(t)
	d.hear("a", "b", "c")
	if err := d.store.Change(t.Context(), d.decide); err != nil {
		t.Fatal(err)
	}
	if node, old := d.records.founder("0001"); d.records.count() != DefaultShards || node != "a" || old {
		t.Errorf("founded by %s with %d shards, the first with old data: %t", node, d.records.count(), old)
	}
	d.settle(t)
	if got := d.records.nodeNames(); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("the nodes are %v", got)
	}
	if got := len(d.records.allShards()); got != DefaultShards+1 {
		t.Errorf("%d shards are placed", got)
	}
	owned := make(map[string]int)
	for name, r := range d.records.allShards() {
		if owned[r.Preferred]++; len(r.Replicas) != 3 {
			t.Errorf("shard %s is placed at %+v", name, r)
		}
	}
	for node, n := range owned {
		if n < 2 || n > 3 {
			t.Errorf("%s should own %d shards", node, n)
		}
	}
}

// No other node has the founder's earlier data, however well placed it is.
func TestDirectorLeavesOldDataToTheFounder(t *testing.T) {
	for _, founder := range []string{"a", "b", "c", "d", "e"} {
		d := newDirector(t)
		d.o.Name = founder
		old, err := store.Open(shardDir(d.o.Dir, "0002"), store.Options{Disk: d.o.Disk})
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Close(); err != nil {
			t.Fatal(err)
		}
		d.hear("a", "b", "c", "d", "e")
		for range 2 { // the nodes are known after the first step
			if err := d.store.Change(t.Context(), d.decide); err != nil {
				t.Fatal(err)
			}
		}
		if r := d.records.shard("0002"); r.Preferred != founder || !slices.Contains(r.Replicas, founder) {
			t.Errorf("the data of %s should be at %+v", founder, r)
		}
		d.settle(t)
		if r := d.records.shard("0002"); len(r.Replicas) != 3 {
			t.Errorf("the data of %s should finally be at %+v", founder, r)
		}
	}
}

func TestDirectorReplacesTheServerOfAnEmptyDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirector(t)
		d.hear("a", "b", "c")
		d.settle(t)
		if err := d.drain(t.Context(), "b", true); err != nil {
			t.Fatal(err)
		}
		time.Sleep(usual.silence)
		for range 6 { // for longer than a silence, as a running process does
			d.hear("a", "c")
			d.hearOf(heartbeat{Node: "b", Incarnation: "b2"})
			d.settle(t)
			time.Sleep(usual.silence / 4)
		}
		if r, _ := d.records.node("b"); r.Incarnation != "b2" || !r.Draining {
			t.Errorf("the new disk is %+v", r)
		}
		old := incarnation{Node: "b", ID: "b1"}
		if got := d.records.allGone(); !slices.Equal(got, []string{old.server()}) || !d.records.removed(old) {
			t.Errorf("to be forgotten are %v", got)
		}
		if d.records.removed(incarnation{Node: "b", ID: "b2"}) {
			t.Error("the new disk is refused")
		}
	})
}

func TestDirectorGivesUpANodeThatIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirector(t)
		d.hear("a", "b", "c", "d")
		d.settle(t)
		if d.kept("d") == 0 {
			t.Fatal("d keeps nothing")
		}
		// awayFor lets time pass in which only these nodes send messages.
		awayFor := func(passed time.Duration, others ...string) {
			for range passed / time.Second {
				time.Sleep(time.Second)
				d.hear(others...)
				d.settle(t)
			}
		}
		awayFor(50*time.Second, "a", "b", "c")
		if r, _ := d.records.node("d"); r.GivenUp || d.kept("d") == 0 {
			t.Errorf("after 50 seconds d keeps %d shards", d.kept("d"))
		}
		awayFor(10*time.Second, "a", "b", "c")
		r, _ := d.records.node("d")
		server := incarnation{Node: "d", ID: "d1"}.server()
		if !r.GivenUp || d.kept("d") > 0 || !slices.Equal(d.records.allGone(), []string{server}) {
			t.Errorf("after a minute d is %+v, keeps %d shards, and to be forgotten are %v", r, d.kept("d"),
				d.records.allGone())
		}
		d.hear("d")
		d.settle(t)
		if r, _ := d.records.node("d"); r.GivenUp || d.kept("d") == 0 || len(d.records.allGone()) > 0 {
			t.Errorf("d is back, is %+v, keeps %d shards, and to be forgotten are %v", r, d.kept("d"),
				d.records.allGone())
		}
		// With two nodes left there is no other place for replicas.
		awayFor(time.Hour, "a", "b")
		for _, name := range []string{"c", "d"} {
			if r, _ := d.records.node(name); r.GivenUp {
				t.Errorf("%s is given up", name)
			}
		}
	})
}

func TestDirectorDrainsAndRemoves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirector(t)
		d.hear("a", "b", "c", "d")
		d.settle(t)
		for what, c := range map[string]struct {
			got, want error
		}{
			"drain an unknown node":               {d.drain(t.Context(), "x", true), status.ErrNoNode},
			"undo a drain that was never begun":   {d.drain(t.Context(), "a", false), status.ErrNotDrained},
			"remove an unknown node":              {d.remove(t.Context(), "x"), status.ErrNoNode},
			"remove a node that is alive":         {d.remove(t.Context(), "b"), status.ErrAlive},
			"drain a node":                        {d.drain(t.Context(), "b", true), nil},
			"drain a node that is drained, again": {d.drain(t.Context(), "b", true), nil},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: %v", what, c.got)
			}
		}
		d.settle(t)
		if n := d.kept("b"); n > 0 {
			t.Errorf("b is drained and keeps %d shards", n)
		}
		time.Sleep(usual.silence)
		d.hear("a", "c", "d")
		if err := d.remove(t.Context(), "b"); err != nil {
			t.Fatal(err)
		}
		d.settle(t)
		b := incarnation{Node: "b", ID: "b1"}
		if _, known := d.records.node("b"); known || !d.records.removed(b) ||
			!slices.Equal(d.records.allGone(), []string{b.server()}) {
			t.Errorf("b is known: %t, refused: %t, to be forgotten: %v", known, d.records.removed(b),
				d.records.allGone())
		}
		d.hear("b")
		d.settle(t)
		if _, known := d.records.node("b"); known {
			t.Error("a removed node is recorded again")
		}
	})
}

// forgetful is an engine that forgets servers after a few failed attempts.
type forgetful struct {
	Engine
	fails     int
	forgotten []string
}

func (e *forgetful) Forget(_ context.Context, server string) error {
	if e.fails--; e.fails >= 0 {
		return errors.New("there is no majority")
	}
	e.forgotten = append(e.forgotten, server)
	return nil
}

// A director decides while its node owns the control shard, calls Found once in each of these periods, and makes the
// engine forget servers until it succeeds.
func TestDirectorWorksWhileItOwnsTheControlShard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDirector(t)
		engine := &forgetful{fails: 2}
		d.engine = engine
		found := 0
		d.o.Found = func(*control.Control) error { found++; return nil }
		ctx, cancel := context.WithCancel(t.Context())
		d.ctx = ctx
		d.tasks.start(d.run)
		defer d.tasks.wait()
		defer cancel()
		d.hear("a", "b", "c")
		time.Sleep(2 * directInterval)
		synctest.Wait()
		if found > 0 || d.records.count() > 0 {
			t.Error("it decides without owning the control shard")
		}
		d.controlEpoch.Store(1)
		d.alarm.ring()
		synctest.Wait()
		if found != 1 || d.records.count() != DefaultShards {
			t.Errorf("found %d times, %d shards", found, d.records.count())
		}
		d.hear("a", "b", "c")
		d.hearOf(heartbeat{Node: "d", Incarnation: "d1"})
		time.Sleep(usual.silence)
		d.hear("a", "b", "c")
		if err := d.remove(t.Context(), "d"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3 * (forgetAgain + directInterval))
		synctest.Wait()
		if want := []string{incarnation{Node: "d", ID: "d1"}.server()}; !slices.Equal(engine.forgotten, want) ||
			len(d.records.allGone()) > 0 {
			t.Errorf("forgotten are %v, to be forgotten %v", engine.forgotten, d.records.allGone())
		}
		d.controlEpoch.Store(3)
		time.Sleep(2 * directInterval)
		synctest.Wait()
		if found != 2 {
			t.Errorf("found %d times in two epochs", found)
		}
	})
}
