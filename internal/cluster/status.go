package cluster

import (
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/replica"
)

// Status is the cluster as one node sees it.
type Status struct {
	Cluster string
	Node    string // that was asked
	Nodes   []NodeStatus
	Shards  []ShardStatus
	// How often the node that was asked has given a shard to another since it was
	// started, and how often it has lost one.
	HandOvers int64
	Lost      int64
}

// NodeStatus is what is known of a node.
type NodeStatus struct {
	Name        string
	Live        bool
	AwaySeconds int64    // for how long it has been missed
	Endpoint    string   // where clients reach it
	Version     string   // of its program
	Incarnation string   // of its data directory
	Draining    bool     // its shards are being moved away
	Leaving     bool     // it is about to stop
	Low         bool     // its disk is nearly full
	SkewMillis  int64    // how far its clock is ahead of the majority's
	Owns        []string `json:",always"` // names of shards
}

// ShardStatus is what is known of a shard.
type ShardStatus struct {
	Name      string
	Owner     string // a node's name, or empty
	Preferred string // who should own it
	Epoch     int64
	LogFirst  int64 // positions
	LogLast   int64
	LogBytes  int64           // that one copy of the log takes
	Complete  int64           // copies of the log that have all of it, as its owner was told lately; 0: it is not known
	Copies    int64           // of the log there should be
	Parted    int64           // the first position at which two replicas are known to differ; 0: none
	Replicas  []ReplicaStatus `json:",always"`
}

// ReplicaStatus is what is known of a shard on one node.
type ReplicaStatus struct {
	Node    string
	Role    string
	Applied int64 // positions
	Durable int64
	Lag     int64 // records
	Error   string
}

// absent is the role of a replica that is to be on a node and is not known to be.
const absent = "absent"

// Status returns the cluster as this node sees it now. It waits for nobody.
func (n *Node) Status() Status {
	s := Status{Cluster: n.o.Cluster, Node: n.o.Name, HandOvers: n.handOvers.Load(), Lost: n.lost.Load()}
	live := n.view.live()
	live[n.o.Name] = n.beatNow()
	owned := make(map[string][]string)
	shards := n.records.allShards()
	for _, name := range slices.Sorted(maps.Keys(shards)) {
		sh := n.shardStatus(name, shards[name], live)
		owned[sh.Owner] = append(owned[sh.Owner], name)
		s.Shards = append(s.Shards, sh)
	}
	known := n.records.allNodes()
	for name := range live {
		if _, ok := known[name]; !ok {
			known[name] = nodeRecord{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(known)) {
		b, alive := live[name]
		node := NodeStatus{
			Name: name, Live: alive, Endpoint: b.Endpoint, Version: b.Version, Incarnation: known[name].Incarnation,
			Draining: known[name].Draining, Leaving: b.Leaving, Low: b.Low, SkewMillis: b.Skew.Milliseconds(), Owns: owned[name],
		}
		if !alive {
			node.AwaySeconds = int64(n.view.missedFor(name).Seconds())
		}
		s.Nodes = append(s.Nodes, node)
	}
	return s
}

func (n *Node) shardStatus(name string, record shardRecord, live map[string]beat) ShardStatus {
	s := ShardStatus{Name: name, Preferred: record.Preferred}
	if h, ok := n.view.owner(name); ok {
		s.Epoch = int64(h.Epoch)
		// It may have been one that has died and come back.
		if b, alive := live[h.Node]; alive && b.Shards[name].Role.Owns() {
			s.Owner = h.Node
			s.Complete, s.Copies = int64(b.Copies[name].Complete), int64(b.Copies[name].Wanted)
		}
	}
	var seen []replica.Status
	for _, node := range record.Replicas {
		if r, ok := live[node].Shards[name]; ok {
			seen = append(seen, r)
		}
	}
	for i, a := range seen {
		s.LogFirst, s.LogLast, s.LogBytes = max(s.LogFirst, int64(a.First)), max(s.LogLast, int64(a.Last)), max(s.LogBytes, a.Bytes)
		for _, b := range seen[:i] {
			if p := replica.Parted(a, b); p != 0 {
				s.Parted = int64(p)
			}
		}
	}
	for _, node := range record.Replicas {
		r, ok := live[node].Shards[name]
		if !ok {
			s.Replicas = append(s.Replicas, ReplicaStatus{Node: node, Role: absent})
			continue
		}
		s.Replicas = append(s.Replicas, ReplicaStatus{
			Node: node, Role: string(r.Role), Applied: int64(r.Applied), Durable: int64(r.Durable),
			Lag: s.LogLast - int64(r.Applied), Error: r.Error,
		})
	}
	return s
}
