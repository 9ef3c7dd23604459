package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// meet creates nodes of these names that know each other, without anything to keep.
func meet(t *testing.T, names ...string) map[string]*membership {
	t.Helper()
	return meetOn(t, messenger.NewMemory(), names...)
}

// meetOn is meet on a network.
func meetOn(t *testing.T, network *messenger.Memory, names ...string) map[string]*membership {
	t.Helper()
	var peers []Peer
	for _, name := range names {
		peers = append(peers, Peer{Name: name})
	}
	all := make(map[string]*membership)
	for _, name := range names {
		ctx, cancel := context.WithCancel(t.Context())
		t.Cleanup(cancel)
		o := Options{Name: name, Peers: peers, Dir: "data"}
		o.defaults()
		c := &common{
			o:     o,
			times: usual, log: slog.New(slog.DiscardHandler), id: incarnation{Node: name, ID: "1"}, ctx: ctx,
			records: newRecords(), messages: network.Node(name), failure: failure{happened: make(chan struct{})},
		}
		m := newMembership(c)
		m.self = func() heartbeat { return heartbeat{Node: name, Incarnation: c.id.ID} }
		m.changed = func() {}
		m.vouch = func() (sharedlog.Position, bool) { return 0, false }
		m.told = func(sharedlog.Position, time.Time) {}
		m.messages.Handle(kindHeartbeat, m.onHeartbeat)
		all[name] = m
	}
	return all
}

func TestNodesHearOfEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := meet(t, "a", "b", "c")
		changes := 0
		nodes["b"].changed = func() { changes++ }
		nodes["a"].sendHeartbeats()
		nodes["a"].sendHeartbeats()
		if live := nodes["a"].view.live(); len(live) != 2 || live["b"].Incarnation != "1" {
			t.Errorf("a learns of %v from the answers", live)
		}
		if live := nodes["b"].view.live(); len(live) != 1 || changes != 1 {
			t.Errorf("b learns of %v, in %d changes", live, changes)
		}
		nodes["b"].view.learn("0001", replica.Holder{Node: "a", Epoch: 3})
		gone := nodes["b"].view.watch("0001")
		time.Sleep(usual.silence)
		nodes["b"].view.markDead(time.Now())
		if live := nodes["b"].view.live(); len(live) > 0 || !nodes["b"].view.isSilent("a") {
			t.Errorf("after %s b still knows of %v", usual.silence, live)
		}
		select {
		case <-gone:
		default:
			t.Error("waiters for the owner do not learn that it is dead")
		}
	})
}

// A node reports at once that it no longer hears another one, even to nodes to which no heartbeat is due, because
// elections wait for that report. The silence of a node that only answers ends, as it began, at the time of a
// heartbeat.
func TestSilenceIsSaidAtOnce(t *testing.T) {
	for beats := range 10 {
		synctest.Test(t, func(t *testing.T) {
			network := messenger.NewMemory()
			nodes := meetOn(t, network, "a", "b", "c")
			a, b := nodes["a"], nodes["b"]
			a.self = func() heartbeat { return heartbeat{Node: "a", Incarnation: "1", Silent: a.view.silent()} }
			defer a.tasks.wait()
			var end func()
			a.ctx, end = context.WithCancel(t.Context())
			defer end()
			a.tasks.start(a.run)
			pass := func(beats int) { // b sends between the heartbeats of a, which skips some of its own
				for range beats {
					time.Sleep(usual.heartbeat / 2)
					b.sendHeartbeats()
					time.Sleep(usual.heartbeat / 2)
				}
				synctest.Wait()
			}
			pass(beats)
			network.Cut("c", true)
			pass(int(usual.silence / usual.heartbeat))
			if !a.view.isSilent("c") {
				t.Fatal("the other node is not silent yet")
			}
			if said := b.view.lastSaid()["a"].Silent; !slices.Equal(said, []string{"c"}) {
				t.Errorf("after %d heartbeats: the node reports %v as silent", beats, said)
			}
		})
	}
}

// Nodes of the previous version read today's heartbeat, and this version reads theirs.
func TestHeartbeatKeepsItsForm(t *testing.T) {
	text, err := json.Marshal(heartbeatMsg{Heartbeat: heartbeat{Node: "a", Incarnation: "1", OldData: true}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"Beat":{"Node":"a","Incarnation":"1","Endpoint":"","Version":"","Bears":true,"Shards":null},"Time":"0001-01-01T00:00:00Z"}`
	if string(text) != want {
		t.Errorf("it is\n%s, and was\n%s", text, want)
	}
}

func TestRemovedNodeIsToldSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := meet(t, "a", "b")
		var s settings
		s.remove("b-1")
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if err := nodes["a"].records.put(keySettings, text); err != nil {
			t.Fatal(err)
		}
		nodes["b"].sendHeartbeats()
		if err := nodes["b"].failure.get(); err == nil {
			t.Error("it continues")
		}
		if live := nodes["a"].view.live(); len(live) > 0 {
			t.Errorf("it counts as a node: %v", live)
		}
		if got := nodes["a"].returned.silent(time.Now(), usual.silence); len(got) > 0 {
			t.Errorf("%v is to be forgotten while it is there", got)
		}
		time.Sleep(usual.silence)
		if got := nodes["a"].returned.silent(time.Now(), usual.silence); len(got) != 1 || got[0] != "b-1" {
			t.Errorf("to be forgotten is %v", got)
		}
	})
}

func TestOneProcessAName(t *testing.T) {
	nodes := meet(t, "a", "b")
	nodes["b"].messages = nodes["a"].messages // another machine on which a node b is started
	if err := nodes["b"].checkOnly(t.Context()); err == nil {
		t.Error("a second node b joins")
	}
	if err := nodes["a"].checkOnly(t.Context()); err == nil {
		t.Error("a node finds that it is there itself, once it answers")
	}
}

func TestBarrierKnowsWhenItIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		nodes := meet(t, "a", "b", "c")
		a := nodes["a"]
		for _, name := range []string{"a", "b", "c"} {
			if err := a.records.put(keyNode+name, []byte(`{"Incarnation":"1"}`)); err != nil {
				t.Fatal(err)
			}
		}
		b := &barrier{common: a.common, members: a}
		b.pass(time.Now())
		a.record(a.self())
		a.sendHeartbeats()
		if err := b.current(); err != nil {
			t.Errorf("with all nodes there: %v", err)
		}
		time.Sleep(usual.isolated + time.Second)
		if err := b.current(); !errors.Is(err, ErrCutOff) {
			t.Errorf("without the others, after %s: %v", usual.isolated, err)
		}
		a.record(a.self())
		a.sendHeartbeats()
		if err := b.current(); err != nil {
			t.Errorf("with all nodes there, and a log that cannot be read since %s: %v", usual.isolated, err)
		}
		time.Sleep(staleAfter)
		a.record(a.self())
		a.sendHeartbeats()
		if err := b.current(); !errors.Is(err, ErrCutOff) {
			t.Errorf("with a log that cannot be read for %s: %v", staleAfter, err)
		}
	})
}

// A node whose clock is set back while it is cut off does not mistake its knowledge for new. Neither does one that was
// suspended.
func TestBarrierOutlivesItsClocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := meet(t, "a")["a"]
		b := &barrier{common: a.common, members: a}
		if err := b.current(); !errors.Is(err, ErrCutOff) {
			t.Errorf("at first: %v", err)
		}
		b.pass(time.Now())
		now := momentOf(time.Now())
		for _, c := range []struct {
			name string
			at   moment
			want error
		}{
			{"at once", now, nil},
			{"set back", moment{now.wall.Add(-time.Hour), now.running + 2*staleAfter}, ErrCutOff},
			{"suspended", moment{now.wall.Add(2 * staleAfter), now.running}, ErrCutOff},
		} {
			if err := b.currentAt(c.at); !errors.Is(err, c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		later := time.Now().Add(time.Second)
		b.pass(later)
		b.pass(later.Add(-time.Millisecond))
		if age := b.age(momentOf(later)); age != 0 {
			t.Errorf("an earlier moment counts: %s", age)
		}
	})
}
