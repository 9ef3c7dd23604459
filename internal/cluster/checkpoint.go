package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// fetch returns a function that fetches a checkpoint of a shard for a replica that is too far behind.
func (h *host) fetch(name string) func(context.Context, *store.Incoming) error {
	return replica.FetchFrom(h.messages, name, func() []string {
		return h.sources(name, h.heartbeat().Shards[name].First)
	})
}

// sources returns the nodes whose checkpoint of a shard helps a replica of this node: their stores have applied
// everything before the record first, with which the log now begins. A store that has applied nothing may not belong to
// this log, because another node with data from before the cluster may have founded it.
func (h *host) sources(name string, first sharedlog.Position) []string {
	return h.keepers(name, func(s replica.Status) bool { return usable(s) && s.Applied > 0 && s.Applied+1 >= first })
}

// keepers returns the other nodes with a suitable replica of a shard. Those that have applied most of its log come
// first. The owner comes last, because it has other work.
func (h *host) keepers(name string, do func(replica.Status) bool) (nodes []string) {
	live := h.members.view.live()
	for node, b := range live {
		if s, ok := b.Shards[name]; ok && node != h.o.Name && do(s) {
			nodes = append(nodes, node)
		}
	}
	owner, _ := h.members.view.owner(name)
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
