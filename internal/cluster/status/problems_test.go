package status

import (
	"slices"
	"strings"
	"testing"
)

// sound is a cluster of those nodes in which all is well.
func sound(nodes ...string) *Status {
	s := &Status{Cluster: "test", Node: nodes[0]}
	for _, n := range nodes {
		s.Nodes = append(s.Nodes, Node{Name: n, Live: true})
	}
	for i, name := range []string{"0001", "0002", "0003", ControlShard} {
		sh := Shard{
			Name: name, Owner: nodes[i%len(nodes)], Preferred: nodes[i%len(nodes)], Epoch: 1, LogFirst: 1, LogLast: 9,
			Complete: 3, Copies: 3,
		}
		keepers := nodes
		if name != ControlShard {
			keepers = nodes[:min(Copies, len(nodes))]
		}
		for _, n := range keepers {
			sh.Replicas = append(sh.Replicas, Replica{Node: n, Role: "follower", Applied: 9})
		}
		s.Shards = append(s.Shards, sh)
	}
	return s
}

func TestEveryProblemIsNamed(t *testing.T) {
	if got := sound("a", "b", "c").Problems(); len(got) > 0 {
		t.Errorf("a cluster that is well: %q", got)
	}
	for name, test := range map[string]struct {
		spoil func(*Status)
		want  string
	}{
		"no owner": {func(s *Status) { s.Shards[1].Owner = "" },
			"Shard 0002 has no owner: its part of the queues is not served."},
		"no control owner": {func(s *Status) { s.Shards[3].Owner = "" },
			"Shard control has no owner: queues, users and policies cannot be changed."},
		"parted": {func(s *Status) { s.Shards[0].Parted = 7 },
			"Two replicas of shard 0001 DIFFER from position 7 on: one of them is damaged."},
		"unknown queues": {func(s *Status) { s.Shards[0].Unknown = 2 },
			"Shard 0001 keeps data of 2 queues that are neither listed nor known to be deleted."},
		"away": {func(s *Status) { s.Nodes[1].Live, s.Nodes[1].AwaySeconds = false, 61 },
			"Node b has been away for 1m1s."},
		"stopping": {func(s *Status) { s.Nodes[1].Leaving, s.Nodes[1].Unready = true, true },
			"Node b is stopping."},
		"just gone": {func(s *Status) { s.Nodes[1].Unanswered = true },
			"Node b has not answered the latest heartbeat."},
		"starting": {func(s *Status) { s.Nodes[1].Unready = true },
			"Node b is not ready: it does not answer clients."},
		"disk": {func(s *Status) { s.Nodes[2].Low = true },
			"The disk of node c is nearly full: nothing can be added to any queue."},
		"clock": {func(s *Status) { s.Nodes[0].SkewMillis = -1500 },
			"The clock of node a is 1.5s behind those of most nodes."},
		"stopped": {func(s *Status) { s.Shards[0].Replicas[1].Error = "no space" },
			"The replica of shard 0001 on node b has stopped: no space."},
		"absent": {func(s *Status) { s.Shards[0].Replicas[2].Role = Absent },
			"The replica of shard 0001 on node c is not there yet."},
		"fetching": {func(s *Status) { s.Shards[0].Replicas[2].Role = "fetching" },
			"The replica of shard 0001 on node c is being copied from another node."},
		"far behind": {func(s *Status) { s.Shards[0].Replicas[2].Lag = Near + 1 },
			"The replica of shard 0001 on node c is 2001 records behind."},
		"too few copies": {func(s *Status) { s.Shards[2].Replicas = s.Shards[2].Replicas[:2] },
			"Shard 0003 is kept by 2 nodes, and should be by 3."},
		"log incomplete": {func(s *Status) { s.Shards[2].Complete = 2 },
			"The log of shard 0003 is complete on 2 of 3 nodes."},
		"certificate": {func(s *Status) { s.Nodes[0].CertificateDays = new(int64(14)) },
			"The certificate of node a for other nodes ends in 14 days."},
		"long certificate":  {func(s *Status) { s.Nodes[0].CertificateDays = new(int64(15)) }, ""},
		"a little behind":   {func(s *Status) { s.Shards[0].Replicas[2].Lag = 20 }, ""},
		"draining":          {func(s *Status) { s.Nodes[0].Draining = true }, ""},
		"not the preferred": {func(s *Status) { s.Shards[0].Preferred = "c" }, ""},
	} {
		s := sound("a", "b", "c")
		test.spoil(s)
		var got []string
		for _, p := range s.Problems() {
			got = append(got, p.Problem)
			if p.Advice == "" {
				t.Errorf("%s: nothing is said of what to do", name)
			}
		}
		if got := strings.Join(got, "\n"); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestDeadNodeIsOneProblem(t *testing.T) {
	s := sound("a", "b", "c")
	s.Nodes[2].Live = false
	for i := range s.Shards {
		s.Shards[i].Replicas[2] = Replica{Node: "c", Role: Absent}
		s.Shards[i].Owner, s.Shards[i].Complete = "a", 2
	}
	if got := s.Problems(); len(got) != 1 {
		t.Errorf("%q", got)
	}
}

// With two of five nodes away, one complete copy of three is no majority, although each missing copy may be on a node
// that is away.
func TestLogWithoutMajority(t *testing.T) {
	s := sound("a", "b", "c", "d", "e")
	s.Nodes[3].Live, s.Nodes[4].Live = false, false
	s.Shards[0].Complete = 1
	var got []string
	for _, p := range s.Problems() {
		got = append(got, p.Problem)
	}
	if want := "The log of shard 0001 is complete on 1 of 3 nodes, which is no majority."; !slices.Contains(got, want) {
		t.Errorf("%q, want %q among them", got, want)
	}
}

func TestShardsThatMove(t *testing.T) {
	s := sound("a", "b", "c")
	if got := s.Moving(); len(got) > 0 {
		t.Errorf("all are where they should be: %q", got)
	}
	s.Shards[0].Preferred = "b"
	if got, want := s.Moving(),
		[]string{"Shard 0001 is about to move from node a to node b."}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	s.Nodes[1].Live = false
	if got := s.Moving(); len(got) > 0 {
		t.Errorf("to a node that is away: %q", got)
	}
}

func TestRemainsOnDrainedNode(t *testing.T) {
	check := func(s *Status, what string, owns, keeps []string) {
		t.Helper()
		if o, k := s.Left("a"); !slices.Equal(o, owns) || !slices.Equal(k, keeps) {
			t.Errorf("%s: owns %v, keeps %v; want %v and %v", what, o, k, owns, keeps)
		}
	}
	s := sound("a", "b", "c")
	s.Nodes[0].Draining = true
	check(s, "at the beginning", []string{"0001", ControlShard}, nil)
	s.Shards[0].Owner, s.Shards[3].Owner = "b", "b"
	check(s, "three nodes, two of which have all", nil, nil)
	s.Shards[1].Replicas[2].Role = Absent
	check(s, "one of them has not got a shard yet", nil, []string{"0002"})

	s = sound("a", "b", "c", "d")
	s.Nodes[0].Draining = true
	for i := range s.Shards {
		s.Shards[i].Owner = "c"
	}
	check(s, "four nodes", nil, []string{"0001", "0002", "0003"})
	s.Shards[0].Replicas[0].Node = "d"
	check(s, "one has moved", nil, []string{"0002", "0003"})
}
