package cluster

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/store"
)

// fetch returns what gets a checkpoint of a shard for a replica that is too far
// behind. One with which the log could not be followed either is no help.
func (h *host) fetch(name string) func(context.Context, *store.Incoming) error {
	return replica.FetchFrom(h.messages, name, func() []string {
		first := h.heartbeat().Shards[name].First
		return h.keepers(name, func(s replica.Status) bool { return usable(s) && s.Hash != emptyHash && s.Applied+1 >= first })
	})
}

// keepers returns the other nodes with a replica of a shard that will do: first those
// that have applied most of its log, and the owner last, which has other things to do.
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
