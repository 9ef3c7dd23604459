package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// checkpoint returns a function that fetches a checkpoint of a shard for a replica that is too far behind.
func (m *membership) checkpoint(name string) func(context.Context, *store.Incoming) error {
	return replica.FetchFrom(m.messages, name, func() []string {
		return m.sources(name, m.self().Shards[name].First)
	})
}

// sources returns the nodes whose checkpoint of a shard helps a replica of this node: their stores have applied
// everything before the record first, with which the log now begins. A store that has applied nothing may not belong to
// this log, because another node with data from before the cluster may have founded it.
func (m *membership) sources(name string, first sharedlog.Position) []string {
	return m.keepers(name, func(s replica.Status) bool { return usable(s) && s.Applied > 0 && s.Applied+1 >= first })
}

// keepers returns the other nodes with a suitable replica of a shard. Those that have applied most of its log come
// first. The owner comes last, because it has other work.
func (m *membership) keepers(name string, do func(replica.Status) bool) (nodes []string) {
	live := m.view.live()
	for node, b := range live {
		if s, ok := b.Shards[name]; ok && node != m.o.Name && do(s) {
			nodes = append(nodes, node)
		}
	}
	owner, _ := m.view.owner(name)
	slices.SortFunc(nodes, func(a, b string) int {
		if a == owner.Node || b == owner.Node {
			return cmp.Compare(weigh(a == owner.Node), weigh(b == owner.Node))
		}
		return cmp.Or(cmp.Compare(live[b].Shards[name].Applied, live[a].Shards[name].Applied), cmp.Compare(a, b))
	})
	return nodes
}

func weigh(last bool) int {
	if last {
		return 1
	}
	return 0
}
