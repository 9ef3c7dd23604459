package cluster

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/store"
)

// fetch returns what gets a checkpoint of a shard for a replica that is too far
// behind. One with which the log could not be followed either is no help.
func (n *Node) fetch(name string) func(context.Context, *store.Incoming) error {
	return replica.FetchFrom(n.messages, name, func() []string {
		first := n.beatNow().Shards[name].First
		return n.keepers(name, func(s replica.Status) bool { return usable(s) && s.Hash != emptyHash && s.Applied+1 >= first })
	})
}

// keepers returns the other nodes with a replica of a shard that will do: first those
// that have applied most of its log, and the owner last, which has other things to do.
func (n *Node) keepers(name string, do func(replica.Status) bool) (nodes []string) {
	live := n.view.live()
	for node, b := range live {
		if s, ok := b.Shards[name]; ok && node != n.o.Name && do(s) {
			nodes = append(nodes, node)
		}
	}
	h, _ := n.view.owner(name)
	slices.SortFunc(nodes, func(a, b string) int {
		if a == h.Node || b == h.Node {
			return cmp.Compare(weigh(a == h.Node), weigh(b == h.Node))
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

// desk takes requests for those who are here now: a replica may be closed and
// another of the same shard be opened later, while a messenger has one handler of a
// kind for good.
type desk struct {
	messenger.Messenger

	mu       sync.Mutex
	handlers map[string]messenger.Handler
}

// Handle is that of Messenger, but may be called again for a kind.
func (d *desk) Handle(kind string, f messenger.Handler) {
	d.mu.Lock()
	_, known := d.handlers[kind]
	d.handlers[kind] = f
	d.mu.Unlock()
	if known {
		return
	}
	d.Messenger.Handle(kind, func(ctx context.Context, payload []byte) ([]byte, error) {
		d.mu.Lock()
		f := d.handlers[kind]
		d.mu.Unlock()
		return f(ctx, payload)
	})
}
