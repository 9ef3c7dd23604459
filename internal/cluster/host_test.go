package cluster

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// hostOfA returns the host of node a, one of three named nodes. It keeps nothing.
func hostOfA(t *testing.T) *host {
	t.Helper()
	members := meet(t, "a", "b", "c")["a"]
	members.o.Disk = store.NewMemoryDisk(nil)
	return newHost(members, nil, &controlShardReplica{common: members.common}, nil)
}

// hear reports nodes to the host, all with this status of shard 0001.
func (h *host) hear(s replica.Status, nodes ...string) {
	for _, name := range nodes {
		h.members.record(heartbeat{Node: name, Incarnation: name + "1", Shards: map[string]replica.Status{"0001": s}})
	}
}

// decided stores a record of the cluster in place of the director.
func (h *host) decided(t *testing.T, key string, record any) {
	t.Helper()
	text, err := json.Marshal(record)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.records.put(key, text); err != nil {
		t.Fatal(err)
	}
}

// ready is the status of a replica that could own its shard immediately.
var ready = replica.Status{Role: replica.Follower, Applied: 100, Last: 100, Hash: "77397410cc73f66b"}

// Two nodes with data from before the cluster try to found it. The data of the second is no checkpoint for a node
// without data.
func TestCheckpointIsOfThisLog(t *testing.T) {
	h := hostOfA(t)
	h.hear(replica.Status{Role: replica.Owner, Applied: 1, Last: 1, Hash: "77397410cc73f66b"}, "founder")
	h.hear(replica.Status{Role: replica.Follower, Hash: "962bb7ac660b9dd9"}, "other")
	h.hear(replica.Status{Role: replica.Follower, Hash: emptyHash}, "empty")
	h.hear(replica.Status{Role: replica.Stopped, Applied: 1, Hash: "77397410cc73f66b", Error: "it is damaged"},
		"stopped")
	if got := h.members.sources("0001", 1); !slices.Equal(got, []string{"founder"}) {
		t.Errorf("checkpoints come from %v", got)
	}
	if got := h.members.sources("0001", 3); len(got) > 0 {
		t.Errorf("the log begins with record 3, and checkpoints come from %v", got)
	}
}

// The owner gives a checkpoint only if no other node can, because it has other work.
func TestCheckpointComesFromTheOwnerLast(t *testing.T) {
	h := hostOfA(t)
	h.hear(ready, "a", "b", "owner")
	behind := ready
	behind.Applied--
	h.hear(behind, "c")
	h.members.view.learn("0001", replica.Holder{Node: "owner", Epoch: 1})
	if got := h.members.sources("0001", 1); !slices.Equal(got, []string{"b", "c", "owner"}) {
		t.Errorf("checkpoints come from %v", got)
	}
}

func TestFirstNodeOfTheListFoundsTheCluster(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := hostOfA(t)
		nothing, data := replica.Status{Hash: emptyHash}, replica.Status{Hash: "77397410cc73f66b"}
		began := time.Now()
		if h.hear(nothing, "a", "b"); h.candidacy.isFounder(nothing, began) {
			t.Error("a founds the cluster, and c may have data")
		}
		if !h.candidacy.isFounder(data, began) {
			t.Error("a has data, and does not found the cluster")
		}
		if h.hear(nothing, "c"); !h.candidacy.isFounder(nothing, began) {
			t.Error("all are there, and a does not found the cluster")
		}
		time.Sleep(foundTimeout + time.Second)
		if h.hear(nothing, "a", "b"); !h.candidacy.isFounder(nothing, began) {
			t.Error("c stays away, and a does not found the cluster")
		}
		if h.candidacy.isFounder(nothing, time.Now()) {
			t.Error("a has only just begun to wait for c")
		}
		h.members.record(heartbeat{Node: "c", Incarnation: "c1", OldData: true})
		if h.candidacy.isFounder(nothing, began) {
			t.Error("c has data, and a founds the cluster")
		}
		if h.o.Name = "b"; h.candidacy.isFounder(nothing, began) {
			t.Error("b founds the cluster, and a was named first")
		}
	})
}

// Nodes try to own a shard in turn: the preferred owner first.
func TestTurnsToOwnAShard(t *testing.T) {
	replicas := []string{"a", "b", "c"}
	slices.SortFunc(replicas, func(x, y string) int { // the order of the turns
		if weight("0001", x) > weight("0001", y) {
			return -1
		}
		return 1
	})
	first, second, last := replicas[0], replicas[1], replicas[2]
	own := ready
	for what, c := range map[string]struct {
		node    string
		prepare func(h *host)
		want    bool
		delay   time.Duration
	}{
		"the preferred owner":     {last, nil, true, 0},
		"the first of the others": {first, nil, true, 2 * usual.step},
		"the second":              {second, nil, true, 3 * usual.step},
		"the second, the preferred owner is dead": {second,
			func(h *host) { h.decided(t, keyShard+"0001", shardRecord{replicas, "dead"}) }, true, usual.step},
		"the second, the first is about to stop": {second,
			func(h *host) { h.members.record(heartbeat{Node: first, Incarnation: first + "1", Leaving: true}) }, true,
			2 * usual.step},
		"the second, the first is being drained": {second,
			func(h *host) { h.decided(t, keyNode+first, nodeRecord{Draining: true}) }, true, 2 * usual.step},
		"the second, the first cannot go on": {second,
			func(h *host) { s := ready; s.Error = "it is damaged"; h.hear(s, first) }, true, 2 * usual.step},
		"the first, which is being drained": {first,
			func(h *host) { h.decided(t, keyNode+first, nodeRecord{Draining: true}) }, true, 10 * usual.step},
		"the preferred owner, which stops": {last, func(h *host) { h.leaving.Store(true) }, false, 0},
		"the preferred owner, without the old data": {last, func(h *host) {
			h.decided(t, keySettings, settings{Founder: first, OldData: []string{"0001"}})
			own.Last = 0
		}, false, 0},
		"the founder with the old data": {first, func(h *host) {
			h.decided(t, keySettings, settings{Founder: first, OldData: []string{"0001"}})
			own.Last = 0
		}, true, 2 * usual.step},
	} {
		h := hostOfA(t)
		own = ready
		h.o.Name = c.node
		h.decided(t, keyShard+"0001", shardRecord{replicas, last})
		h.hear(ready, replicas...)
		if c.prepare != nil {
			c.prepare(h)
		}
		if want, delay := h.candidacy.turn("0001", own, replicas); want != c.want || delay != c.delay {
			t.Errorf("%s: tries to own it: %t, after %s", what, want, delay)
		}
	}
}

// A stopping node gives each shard to the node that should own it or, if that node cannot take it, to the one with the
// fewest.
func TestSuccessor(t *testing.T) {
	replicas := []string{"a", "b", "c"}
	for what, c := range map[string]struct {
		prepare func(h *host)
		want    string
	}{
		"preferred": {func(h *host) { h.decided(t, keyShard+"0001", shardRecord{replicas, "c"}) }, "c"},
		"preferred, but lags": {func(h *host) {
			h.decided(t, keyShard+"0001", shardRecord{replicas, "c"})
			h.hear(replica.Status{Role: replica.Fetching}, "c")
		}, "b"},
		"itself, and no other preferred": {nil, "c"},
		"c is about to stop, too": {func(h *host) {
			h.members.record(heartbeat{
				Node: "c", Incarnation: "c1", Leaving: true,
			})
		}, "b"},
		"c is being drained": {func(h *host) { h.decided(t, keyNode+"c", nodeRecord{Draining: true}) }, "b"},
		"no other is ready":  {func(h *host) { h.hear(replica.Status{Role: replica.Fetching}, "b", "c") }, ""},
	} {
		h := hostOfA(t)
		h.decided(t, keyShard+"0001", shardRecord{replicas, "a"})
		h.hear(ready, replicas...)
		if c.prepare != nil {
			c.prepare(h)
		}
		load := map[string]int{"a": 1, "b": 3, "c": 2}
		if got := h.handOvers.successor("0001", replicas, load); got != c.want {
			t.Errorf("%s: %q gets it", what, got)
		}
	}
}

// The shards of a stopping node are spread over the others.
func TestSuccessorsShareTheLoad(t *testing.T) {
	h := hostOfA(t)
	h.hear(ready, "a", "b", "c")
	h.decided(t, keyShard+"0001", shardRecord{[]string{"a", "b", "c"}, "a"})
	load, got := map[string]int{"a": 4}, make(map[string]int)
	for range 4 {
		got[h.handOvers.successor("0001", []string{"a", "b", "c"}, load)]++
	}
	if got["b"] != 2 || got["c"] != 2 {
		t.Errorf("the shards go to %v", got)
	}
}

// A nudge for a shard that this node does not keep gets an error, and so does each nudge while the node stops.
func TestNudge(t *testing.T) {
	h := hostOfA(t)
	h.leases = newLeaseList(sharedlog.NewMemory(usual.lease, nil), usual.listAge)
	if _, err := h.candidacy.nudged(t.Context(), []byte("0001")); err == nil {
		t.Error("it takes a shard of which it has no replica")
	}
	h.leaving.Store(true)
	if _, err := h.candidacy.nudged(t.Context(), []byte(controlShard)); err == nil {
		t.Error("it takes a shard while it stops")
	}
}
