package cluster

import (
	"fmt"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// noticeable is a difference between clocks that a person should see to. The
// cluster corrects it, but not while only one node is left.
const noticeable = time.Second

// Problems returns what is not as it should be, one sentence for each thing, the
// worst first. There is none in a cluster that is well: every shard is served and
// could lose as many nodes as it has copies to spare.
func (s *Status) Problems() []string {
	return slices.Concat(s.unserved(), s.parted(), s.nodeProblems(), s.copyProblems())
}

func (s *Status) unserved() (out []string) {
	for _, sh := range s.Shards {
		if sh.Owner == "" {
			out = append(out, fmt.Sprintf("Shard %s has no owner: %s.", sh.Name, withoutOwner(sh.Name)))
		}
	}
	return out
}

func withoutOwner(shard string) string {
	if shard == controlShard {
		return "queues, users and policies cannot be changed"
	}
	return "its part of the queues is not served"
}

func (s *Status) parted() (out []string) {
	for _, sh := range s.Shards {
		if sh.Parted != 0 {
			out = append(out, fmt.Sprintf("Two replicas of shard %s DIFFER from position %d on: one of them is damaged.", sh.Name, sh.Parted))
		}
	}
	return out
}

func (s *Status) nodeProblems() (out []string) {
	for _, n := range s.Nodes {
		if !n.Live {
			out = append(out, fmt.Sprintf("Node %s has been away for %s.", n.Name, time.Duration(n.AwaySeconds)*time.Second))
			continue
		}
		if n.Low {
			out = append(out, fmt.Sprintf("The disk of node %s is nearly full: nothing can be added to any queue.", n.Name))
		}
		if skew := n.Skew(); skew.Abs() >= noticeable {
			out = append(out, fmt.Sprintf("The clock of node %s is %s %s those of most nodes.", n.Name, skew.Abs(), ahead(skew)))
		}
	}
	return out
}

// Skew is how far the node's clock is ahead of the majority's.
func (n *NodeStatus) Skew() time.Duration { return time.Duration(n.SkewMillis) * time.Millisecond }

func ahead(skew time.Duration) string {
	if skew < 0 {
		return "behind"
	}
	return "ahead of"
}

// copyProblems looks at the replicas on nodes that are there: what the others
// lack has been said.
func (s *Status) copyProblems() (out []string) {
	live := s.fit(func(n *NodeStatus) bool { return n.Live })
	for _, sh := range s.Shards {
		for _, r := range sh.Replicas {
			if !live[r.Node] {
				continue
			}
			if what := r.problem(); what != "" {
				out = append(out, fmt.Sprintf("The replica of shard %s on node %s %s.", sh.Name, r.Node, what))
			}
		}
		if away := len(s.Nodes) - len(live); sh.Owner != "" && sh.Complete < sh.Copies-int64(away) {
			out = append(out, fmt.Sprintf("The log of shard %s is complete on %d nodes of %d.", sh.Name, sh.Complete, sh.Copies))
		}
		if want := min(copies, len(s.fit((*NodeStatus).keeps))); sh.Name != controlShard && len(sh.Replicas) < want {
			out = append(out, fmt.Sprintf("Shard %s is kept by %d nodes, and should be by %d.", sh.Name, len(sh.Replicas), want))
		}
	}
	return out
}

func (r *ReplicaStatus) problem() string {
	switch {
	case r.Error != "":
		return "has stopped: " + r.Error
	case r.Role == absent:
		return "is not there yet"
	case r.Role == string(replica.Fetching):
		return "is being copied from another node"
	case r.Lag > nearly:
		return fmt.Sprintf("is %d records behind", r.Lag)
	}
	return ""
}

// keeps reports whether replicas are to be on the node.
func (n *NodeStatus) keeps() bool { return n.Live && !n.Draining }

// fit returns the names of the nodes that are as wanted.
func (s *Status) fit(wanted func(*NodeStatus) bool) map[string]bool {
	names := make(map[string]bool)
	for i := range s.Nodes {
		if wanted(&s.Nodes[i]) {
			names[s.Nodes[i].Name] = true
		}
	}
	return names
}

// Spare returns how many nodes may fail before a majority is lost.
func (s *Status) Spare() int { return (min(copies, len(s.Nodes)) - 1) / 2 }

// Left returns which shards a node that is being drained still owns, and of which
// others it keeps a replica that another node could keep. Where the other nodes are
// too few to keep as many copies, it goes on keeping its own.
func (s *Status) Left(node string) (owns, keeps []string) {
	others := s.fit(func(n *NodeStatus) bool { return n.keeps() && n.Name != node })
	for _, sh := range s.Shards {
		switch {
		case sh.Owner == node:
			owns = append(owns, sh.Name)
		case sh.Name == controlShard || len(others) < copies && sh.keptBy(others):
		case slices.ContainsFunc(sh.Replicas, func(r ReplicaStatus) bool { return r.Node == node }):
			keeps = append(keeps, sh.Name)
		}
	}
	return owns, keeps
}

// keptBy reports whether all of these nodes have a replica that could own the shard.
func (s *ShardStatus) keptBy(nodes map[string]bool) bool {
	for node := range nodes {
		if !slices.ContainsFunc(s.Replicas, func(r ReplicaStatus) bool { return r.Node == node && r.problem() == "" }) {
			return false
		}
	}
	return true
}
