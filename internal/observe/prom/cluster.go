package prom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicemq/sluice/internal/cluster/status"
)

// Cluster adds the metrics of a node: its view of the others, and the state of its own replicas. A single server has
// none of them. status is called for each collection.
func (m *Metrics) Cluster(status func() status.Status) { m.registry.MustRegister(node(status)) }

type node func() status.Status

var (
	nodeAlive = desc("cluster", "node_alive", "1 if this node has heard of that one within seconds.", "node")
	nodeSkew  = desc(
		"cluster",
		"clock_skew_seconds",
		"How far this machine's clock is ahead of the majority's; 0 if that is too little to matter.",
	)
	clusterTrouble = desc("cluster", "problems", "Number of problems that sluice cluster status would list.")
	unowned        = desc("cluster", "shards_unowned", "Shards without an owner, as this node sees it.")
	owned          = desc("cluster", "shards_owned", "Shards that this node owns.")
	handOvers      = desc("cluster", "hand_overs_total", "Shards that this node has given to another in good order.")
	lost           = desc(
		"cluster",
		"ownerships_lost_total",
		"Shards that this node has lost because its lease ended or another node took over.",
	)

	shardRole    = desc("shard", "role", "1, with what this node's replica of the shard is doing.", "shard", "role")
	shardEpoch   = desc("shard", "epoch", "How often the shard has had a new owner.", "shard")
	shardApplied = desc("shard", "applied_position", "Up to where of the shard's log this node's replica has it.", "shard")
	shardDurable = desc("shard", "durable_position", "Up to where that outlives a crash of this node without the log.", "shard")
	shardLag     = desc("shard", "lag_records", "Records of the shard's log that this node's replica has not got yet.", "shard")
	shardBytes   = desc("shard", "log_bytes", "Size of one copy of the shard's log.", "shard")
	logComplete  = desc("shard", "log_copies_complete", "Copies of the log of a shard that this node owns which have all of it.", "shard")
	logCopies    = desc("shard", "log_copies", "Copies of that log that there should be.", "shard")
	shardStopped = desc("shard", "stopped", "1 if this node's replica cannot go on and a person has to look.", "shard")
)

// Describe implements prometheus.Collector.
func (n node) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		nodeAlive, nodeSkew, clusterTrouble, unowned, owned, handOvers, lost,
		shardRole, shardEpoch, shardApplied, shardDurable, shardLag, shardBytes, logComplete, logCopies, shardStopped,
	} {
		out <- d
	}
}

// Collect implements prometheus.Collector.
func (n node) Collect(out chan<- prometheus.Metric) {
	s := n()
	if s.Alone() {
		return
	}
	for _, other := range s.Nodes {
		gauge(out, nodeAlive, number(other.Live), other.Name)
		if other.Name == s.Node {
			gauge(out, nodeSkew, other.Skew().Seconds())
		}
	}
	gauge(out, clusterTrouble, float64(len(s.Problems())))
	counter(out, handOvers, float64(s.HandOvers))
	counter(out, lost, float64(s.Lost))
	orphans, own := 0, 0
	for _, sh := range s.Shards {
		switch sh.Owner {
		case "":
			orphans++
		case s.Node:
			own++
			if sh.Complete > 0 {
				gauge(out, logComplete, float64(sh.Complete), sh.Name)
				gauge(out, logCopies, float64(sh.Copies), sh.Name)
			}
		}
		for _, r := range sh.Replicas {
			if r.Node == s.Node {
				collectReplica(out, &sh, &r)
			}
		}
	}
	gauge(out, unowned, float64(orphans))
	gauge(out, owned, float64(own))
}

func collectReplica(out chan<- prometheus.Metric, sh *status.Shard, r *status.Replica) {
	gauge(out, shardRole, 1, sh.Name, r.Role)
	gauge(out, shardEpoch, float64(sh.Epoch), sh.Name)
	gauge(out, shardApplied, float64(r.Applied), sh.Name)
	gauge(out, shardDurable, float64(r.Durable), sh.Name)
	gauge(out, shardLag, float64(r.Lag), sh.Name)
	gauge(out, shardBytes, float64(sh.LogBytes), sh.Name)
	gauge(out, shardStopped, number(r.Error != ""), sh.Name)
}
