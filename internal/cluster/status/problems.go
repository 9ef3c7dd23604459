package status

import (
	"fmt"
	"slices"
	"time"
)

// noticeable is a difference between clocks that an operator should correct. The cluster compensates for it, but not
// while only one node is left.
const noticeable = time.Second

// certificateDays is how long before its expiry a node's certificate is reported as a problem.
const certificateDays = 14

// Problem is a condition that needs an operator.
type Problem struct {
	Problem string // a sentence
	Advice  string // for the operator, in another sentence
}

// Problems returns the problems of a cluster, the worst first. A healthy cluster has none: every shard is served and
// could lose as many nodes as it has copies to spare.
func (s *Status) Problems() []Problem {
	return slices.Concat(s.unserved(), s.parted(), s.unknown(), s.nodeProblems(), s.copyProblems())
}

func (s *Status) unserved() (out []Problem) {
	for _, sh := range s.Shards {
		if sh.Owner != "" {
			continue
		}
		what, advice := "its part of the queues is not served", "sluice cluster queues --shard "+sh.Name+" lists them. "
		if sh.Name == ControlShard {
			what, advice = "queues, users and policies cannot be changed", ""
		}
		out = append(out, Problem{
			fmt.Sprintf("Shard %s has no owner: %s.", sh.Name, what),
			advice + "Wait ten seconds for another node to take over. If none does, a majority of its replicas is away: start the nodes that are.",
		})
	}
	return out
}

func (s *Status) parted() (out []Problem) {
	for _, sh := range s.Shards {
		if sh.Parted != 0 {
			out = append(out, Problem{
				fmt.Sprintf("Two replicas of shard %s DIFFER from position %d on: one of them is damaged.", sh.Name, sh.Parted),
				"Make a backup now. Stop the nodes that keep the shard, one after the other, " +
					"run sluice doctor on their data, " +
					"and move the shard's directory away on nodes where it finds damage.",
			})
		}
	}
	return out
}

func (s *Status) unknown() (out []Problem) {
	for _, sh := range s.Shards {
		if sh.Unknown > 0 {
			out = append(out, Problem{
				fmt.Sprintf("Shard %s keeps data of %d queues that are neither listed nor known to be deleted.", sh.Name, sh.Unknown),
				"Nothing is lost. If this remains after a minute, stop the node that owns the shard and run sluice doctor on its data.",
			})
		}
	}
	return out
}

func (s *Status) nodeProblems() (out []Problem) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if gone, is := n.absence(); is {
			out = append(out, gone)
		}
		if !n.Live {
			continue // everything else known about it is old
		}
		if n.Low {
			out = append(out, Problem{
				fmt.Sprintf("The disk of node %s is nearly full: nothing can be added to any queue.", n.Name),
				"Free space on it, delete messages, or start the node with a smaller --min-free-space.",
			})
		}
		if skew := n.Skew(); skew.Abs() >= noticeable {
			out = append(out, Problem{
				fmt.Sprintf("The clock of node %s is %s %s those of most nodes.", n.Name, skew.Abs(), ahead(skew)),
				"Have NTP set it. The cluster goes by most clocks until then.",
			})
		}
		if days, known := n.CertificateDaysLeft(); known && days <= certificateDays {
			out = append(out, Problem{
				fmt.Sprintf("The certificate of node %s for other nodes ends in %d days.", n.Name, days),
				"Create a new one with sluice cluster certs, and replace the old files. " +
					"The node takes it at its next connection; see docs/cluster.md.",
			})
		}
	}
	return out
}

// absence explains why clients and other nodes get no answer from a node, if they get none.
func (n *Node) absence() (Problem, bool) {
	switch {
	case !n.Live:
		return Problem{
			fmt.Sprintf("Node %s has been away for %s.", n.Name, time.Duration(n.AwaySeconds)*time.Second),
			fmt.Sprintf("Start it; it catches up by itself. If it is gone for good: sluice node remove %s.", n.Name),
		}, true
	case n.Leaving:
		return Problem{fmt.Sprintf("Node %s is stopping.", n.Name), "Stop no other node. Start this one again."}, true
	case n.Unanswered:
		return Problem{
			fmt.Sprintf("Node %s has not answered the latest heartbeat.", n.Name),
			"Stop no other node. Wait five seconds: the status then says whether this one is away.",
		}, true
	case n.Unready:
		return Problem{
			fmt.Sprintf("Node %s is not ready: it does not answer clients.", n.Name),
			"Stop no other node. Wait: a node that starts is ready in seconds. If it is not, its log says why.",
		}, true
	}
	return Problem{}, false
}

// Skew returns how far the node's clock is ahead of the majority's.
func (n *Node) Skew() time.Duration { return time.Duration(n.SkewMillis) * time.Millisecond }

// CertificateDaysLeft returns how long the certificate that identifies the node to the others is valid, if it expires.
func (n *Node) CertificateDaysLeft() (days int64, known bool) {
	if n.CertificateDays == nil {
		return 0, false
	}
	return *n.CertificateDays, true
}

func ahead(skew time.Duration) string {
	if skew < 0 {
		return "behind"
	}
	return "ahead of"
}

// copyProblems checks the replicas on present nodes: absent nodes were reported before.
func (s *Status) copyProblems() (out []Problem) {
	live := s.fit(func(n *Node) bool { return n.Live })
	for _, sh := range s.Shards {
		for _, r := range sh.Replicas {
			if !live[r.Node] {
				continue
			}
			if what := r.problem(); what != "" {
				out = append(out, Problem{
					fmt.Sprintf("The replica of shard %s on node %s %s.", sh.Name, r.Node, what), r.advice(sh.Name),
				})
			}
		}
		if p, is := sh.logProblem(len(s.Nodes) - len(live)); is {
			out = append(out, p)
		}
		if want := min(Copies, len(s.fit((*Node).keeps))); sh.Name != ControlShard && len(sh.Replicas) < want {
			out = append(out, Problem{
				fmt.Sprintf("Shard %s is kept by %d nodes, and should be by %d.", sh.Name, len(sh.Replicas), want),
				"Wait: it is about to be copied to another node.",
			})
		}
	}
	return out
}

// logProblem explains why the log of a served shard has too few complete copies. Copies on nodes that are away are not
// missed, unless the complete ones are no majority: the cluster then replaces no node.
func (s *Shard) logProblem(away int) (Problem, bool) {
	complete := fmt.Sprintf("The log of shard %s is complete on %d of %d nodes", s.Name, s.Complete, s.Copies)
	switch {
	case s.Owner == "":
		return Problem{}, false
	case away > 0 && s.Complete > 0 && 2*s.Complete <= s.Copies:
		return Problem{
			complete + ", which is no majority.",
			"Start the nodes that are away: they may have messages that no other node has, so none of them is replaced. " +
				"sluice node remove gives up a node and such messages.",
		}, true
	case s.Complete < s.Copies-int64(away):
		return Problem{complete + ".", "Wait: it is being copied. Stop no other node before it is complete."}, true
	}
	return Problem{}, false
}

// advice returns what to do about a problem of a replica.
func (r *Replica) advice(shard string) string {
	if r.Error == "" {
		return "Wait: it catches up by itself. Stop no other node before it has."
	}
	dir := "shards/" + shard
	if shard == ControlShard {
		dir = shard
	}
	return fmt.Sprintf(
		"If the others are well, stop node %s, move %s in its data directory away, and start it: it gets the shard from them.",
		r.Node,
		dir,
	)
}

func (r *Replica) problem() string {
	switch {
	case r.Error != "":
		return "has stopped: " + r.Error
	case r.Role == Absent:
		return "is not there yet"
	case r.Role == Fetching:
		return "is being copied from another node"
	case r.Lag > Near:
		return fmt.Sprintf("is %d records behind", r.Lag)
	}
	return ""
}

// keeps reports whether the node should keep replicas.
func (n *Node) keeps() bool { return n.Live && !n.Draining }

// fit returns the names of the nodes that satisfy a condition.
func (s *Status) fit(wanted func(*Node) bool) map[string]bool {
	names := make(map[string]bool)
	for i := range s.Nodes {
		if wanted(&s.Nodes[i]) {
			names[s.Nodes[i].Name] = true
		}
	}
	return names
}

// Spare returns how many nodes may fail before a majority is lost.
func (s *Status) Spare() int { return (min(Copies, len(s.Nodes)) - 1) / 2 }

// Left returns the shards that a draining node still owns, and the shards whose replica on it another node could keep.
// If there are too few other nodes for all copies, the node keeps its replicas.
func (s *Status) Left(node string) (owns, keeps []string) {
	others := s.fit(func(n *Node) bool { return n.keeps() && n.Name != node })
	for _, sh := range s.Shards {
		switch {
		case sh.Owner == node:
			owns = append(owns, sh.Name)
		case sh.Name == ControlShard || len(others) < Copies && sh.keptBy(others):
		case slices.ContainsFunc(sh.Replicas, func(r Replica) bool { return r.Node == node }):
			keeps = append(keeps, sh.Name)
		}
	}
	return owns, keeps
}

// Moving describes the shards that are about to get another owner, each in a sentence: the placement has named one, and
// it is present.
func (s *Status) Moving() (out []string) {
	there := s.fit(func(n *Node) bool { return n.Live })
	for _, sh := range s.Shards {
		if sh.Owner != sh.Preferred && there[sh.Preferred] {
			out = append(
				out, fmt.Sprintf("Shard %s is about to move from node %s to node %s.", sh.Name, sh.Owner, sh.Preferred),
			)
		}
	}
	return out
}

// keptBy reports whether all of these nodes have a replica that could own the shard.
func (s *Shard) keptBy(nodes map[string]bool) bool {
	for node := range nodes {
		if !slices.ContainsFunc(s.Replicas, func(r Replica) bool { return r.Node == node && r.problem() == "" }) {
			return false
		}
	}
	return true
}
