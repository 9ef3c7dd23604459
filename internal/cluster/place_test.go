package cluster

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func always(string, string) bool { return true }

func shardNames(n int) []string {
	var out []string
	for i := range n {
		out = append(out, shardName(i+1))
	}
	return out
}

func fit(names ...string) (out []member) {
	for _, n := range names {
		out = append(out, member{name: n, fit: true, live: true})
	}
	return out
}

// settle takes steps until nothing changes.
func settle(t interface{ Fatalf(string, ...any) }, shards []string, members []member,
	now map[string]shardRecord) map[string]shardRecord {
	for range 100 {
		next := place(shards, members, now, always)
		if reflect.DeepEqual(now, next) {
			return next
		}
		for s, r := range next {
			if was := now[s].Replicas; was != nil && len(r.Replicas) < len(was)-1 {
				t.Fatalf("shard %s lost more than one replica in a step: %v, then %v", s, was, r.Replicas)
			}
		}
		now = next
	}
	t.Fatalf("placement does not settle: %v", now)
	return nil
}

func owned(p map[string]shardRecord) map[string]int {
	n := make(map[string]int)
	for _, r := range p {
		n[r.Preferred]++
	}
	return n
}

func TestShardsAreSpreadEvenly(t *testing.T) {
	shards := shardNames(6)
	p := settle(t, shards, fit("a", "b", "c"), nil)
	for s, r := range p {
		if len(r.Replicas) != 3 {
			t.Errorf("shard %s is kept by %v", s, r.Replicas)
		}
	}
	if n := owned(p); n["a"] != 2 || n["b"] != 2 || n["c"] != 2 {
		t.Errorf("owners: %v", n)
	}
}

func TestNewNodeGetsItsShare(t *testing.T) {
	shards := shardNames(12)
	p := settle(t, shards, fit("a", "b", "c"), nil)
	p = settle(t, shards, fit("a", "b", "c", "d"), p)
	if n := owned(p); n["d"] < 2 {
		t.Errorf("owners: %v", n)
	}
	for s, r := range p {
		if len(r.Replicas) != 3 || !slices.Contains(r.Replicas, r.Preferred) {
			t.Errorf("shard %s: %v", s, r)
		}
	}
}

func TestDrainedNodeLosesItsShards(t *testing.T) {
	shards := shardNames(5)
	members := fit("a", "b", "c")
	p := settle(t, shards, members, nil)
	members[1].fit = false // drained, still alive
	p = settle(t, shards, members, p)
	if n := owned(p)["b"]; n != 0 {
		t.Errorf("the drained node should own %d shards", n)
	}
	for s, r := range p {
		if len(r.Replicas) != 3 {
			t.Errorf("shard %s is kept by %v: no node can take over from the drained node", s, r.Replicas)
		}
	}
	p = settle(t, shards, append(members, fit("d")...), p)
	for s, r := range p {
		if slices.Contains(r.Replicas, "b") {
			t.Errorf("shard %s is still kept by the drained node: %v", s, r.Replicas)
		}
	}
}

func TestReplicaStaysUntilItsSuccessorIsReady(t *testing.T) {
	members := fit("a", "b", "c", "d")
	members[0].fit = false
	now := map[string]shardRecord{"1": {Replicas: []string{"a", "b", "c"}, Preferred: "b"}}
	behind := func(_, node string) bool { return node != "d" }
	for range 5 {
		now = place([]string{"1"}, members, now, behind)
	}
	if r := now["1"].Replicas; !slices.Equal(r, []string{"a", "b", "c", "d"}) {
		t.Fatalf("replicas while d is behind: %v", r)
	}
	now = place([]string{"1"}, members, now, always)
	if r := now["1"].Replicas; !slices.Equal(r, []string{"b", "c", "d"}) {
		t.Fatalf("replicas when d is ready: %v", r)
	}
}

func TestSeveralReplicasMove(t *testing.T) {
	members := fit("a", "b", "c", "d", "e")
	members[0].fit, members[1].fit = false, false
	members[1].live = false
	ready := func(_, node string) bool { return node != "b" } // which is dead
	now := map[string]shardRecord{"1": {Replicas: []string{"a", "b", "c"}, Preferred: "c"}}
	var steps [][]string
	for range 6 {
		now = place([]string{"1"}, members, now, ready)
		steps = append(steps, now["1"].Replicas)
	}
	if r := now["1"].Replicas; !slices.Equal(r, []string{"c", "d", "e"}) && !slices.Equal(r, []string{"c", "e", "d"}) {
		t.Errorf("replicas of a shard that two nodes are to lose: %v", steps)
	}
	for _, r := range steps {
		if alive := len(r) - strings.Count(strings.Join(r, ""), "b"); alive < 2 {
			t.Errorf("only %d replicas on the way: %v", alive, steps)
		}
	}
}

func TestPlacementSettles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := shardNames(rapid.IntRange(1, 20).Draw(t, "shards"))
		var members []member
		for i := range rapid.IntRange(1, 7).Draw(t, "nodes") {
			members = append(members, member{name: fmt.Sprintf("n%d", i), fit: true, live: true})
		}
		var p map[string]shardRecord
		for range 4 {
			p = settle(t, shards, members, p)
			able := 0
			for _, m := range members {
				if m.fit && m.live {
					able++
				}
			}
			for s, r := range p {
				if wanted := wish(s, members, r.Replicas); len(r.Replicas) < min(copies, able) ||
					!sameNames(r.Replicas, wanted) {
					t.Fatalf("shard %s is kept by %v of %v, not by %v", s, r.Replicas, members, wanted)
				}
			}
			i := rapid.IntRange(0, len(members)-1).Draw(t, "node")
			members[i].fit = rapid.Bool().Draw(t, "fit")
			members[i].live = members[i].fit || rapid.Bool().Draw(t, "live")
		}
	})
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
