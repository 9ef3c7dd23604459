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
	nodeAlive = desc("cluster", "node_alive", "1 if this node has heard from that node in the last seconds.", "node")
	nodeSkew  = desc(
		"cluster",
		"clock_skew_seconds",
		"How far this machine's clock is ahead of the majority's; 0 if that is too little to matter.",
	)
	clusterTrouble = desc("cluster", "problems", "Number of problems that sluice cluster status would list.")
	unowned        = desc("cluster", "shards_unowned", "Shards without an owner, as this node sees it.")
	owned          = desc("cluster", "shards_owned", "Shards that this node owns.")
	handOvers      = desc("cluster", "hand_overs_total", "Shards that this node has handed over to another as planned.")
	lost           = desc(
		"cluster",
		"ownerships_lost_total",
		"Shards that this node has lost because its lease ended or another node took over.",
	)

	shardRole    = desc("shard", "role", "1, with the role of this node's replica of the shard.", "shard", "role")
	shardEpoch   = desc("shard", "epoch", "How often the owner of the shard has changed.", "shard")
	shardApplied = desc("shard", "applied_position", "Position in the shard's log up to which this node's replica has applied it.", "shard")
	shardDurable = desc("shard", "durable_position", "Position up to which the replica survives a crash of this node without the log.", "shard")
	shardLag     = desc("shard", "lag_records", "Records of the shard's log that this node's replica has not applied yet.", "shard")
	shardBytes   = desc("shard", "log_bytes", "Size of one copy of the shard's log.", "shard")
	logComplete  = desc(
		"shard", "log_copies_complete", "Complete copies of the log of a shard that this node owns.", "shard",
	)
	logCopies    = desc("shard", "log_copies", "Wanted copies of that log.", "shard")
	shardStopped = desc("shard", "stopped", "1 if this node's replica has stopped and needs an operator.", "shard")
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
