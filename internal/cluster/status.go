package cluster

import (
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/status"
)

// Status returns the cluster as this node sees it now. It waits for no other node.
func (n *Node) Status() status.Status {
	s := status.Status{
		Cluster: n.o.Cluster, Node: n.o.Name,
		HandOvers: n.host.handOvers.done.Load(), Lost: n.host.handOvers.lost.Load(),
	}
	live := n.members.view.live()
	live[n.o.Name] = n.host.heartbeat()
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
		node := status.Node{
			Name: name, Live: alive, Endpoint: b.Endpoint, Version: b.Version, Incarnation: known[name].Incarnation,
			Draining: known[name].Draining, Leaving: b.Leaving, Unready: b.Unready, Low: b.Low,
			SkewMillis: b.Skew.Milliseconds(), Owns: owned[name],
			CertificateDays: daysUntil(b.Certificate, time.Now()),
		}
		node.Unanswered = alive && n.members.view.isUnanswered(name)
		if !alive {
			node.AwaySeconds = int64(n.members.view.missedFor(name).Seconds())
		}
		s.Nodes = append(s.Nodes, node)
	}
	return s
}

func (n *Node) shardStatus(name string, record shardRecord, live map[string]heartbeat) status.Shard {
	s := status.Shard{Name: name, Preferred: record.Preferred}
	if h, ok := n.members.view.owner(name); ok {
		s.Epoch = int64(h.Epoch)
		// The node may have died and returned.
		if b, alive := live[h.Node]; alive && b.Shards[name].Role.Owns() {
			s.Owner = h.Node
			s.Complete, s.Copies = int64(b.Copies[name].Complete), int64(b.Copies[name].Wanted)
			s.Unknown = int64(b.Unknown[name])
		}
	}
	var seen []replica.Status
	for _, node := range record.Replicas {
		if r, ok := live[node].Shards[name]; ok {
			seen = append(seen, r)
		}
	}
	for i, a := range seen {
		s.LogFirst, s.LogLast = max(s.LogFirst, int64(a.First)), max(s.LogLast, int64(a.Last))
		s.LogBytes = max(s.LogBytes, a.Bytes)
		for _, b := range seen[:i] {
			if p := replica.Parted(a, b); p != 0 {
				s.Parted = int64(p)
			}
		}
	}
	for _, node := range record.Replicas {
		r, ok := live[node].Shards[name]
		if !ok {
			s.Replicas = append(s.Replicas, status.Replica{Node: node, Role: status.Absent})
			continue
		}
		s.Replicas = append(s.Replicas, status.Replica{
			Node: node, Role: string(r.Role), Applied: int64(r.Applied), Durable: int64(r.Durable),
			Lag: s.LogLast - int64(r.Applied), Error: r.Error,
		})
	}
	return s
}
