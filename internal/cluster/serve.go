package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/shard"
)

// Serve starts keeping and serving the shards with messages. The catalog must be a reader of Control. Serve runs
// deliver for each shard that this node owns, until ctx ends, which happens before the shard closes.
func (n *Node) Serve(c *catalog.Catalog, deliver func(ctx context.Context, sh *shard.Shard)) {
	n.host.serve(c, deliver)
	n.wake()
}

// Router returns the router, which takes the place of a shard.
func (n *Node) Router() *router.Router { return n.router }

// Place implements catalog.Options.Place.
func (n *Node) Place(q, old *catalog.Queue) {
	router.Assign(q, old, max(1, n.o.Spread), n.records.count())
}

// ClockShift returns what to add to the time of this machine's clock, to get the time of most nodes.
func (n *Node) ClockShift() time.Duration { return -n.members.clocks.skew() }

// Low reports whether the disk of any node is nearly full.
func (n *Node) Low() bool { return n.members.low() }

var errNoOwners = errors.New("no shard has an owner")

// Probe returns nil if this node can answer: it knows the queues, and shards have owners. A single shard without an
// owner does not count, because no other node could do better.
func (n *Node) Probe(context.Context) error { return n.host.probe() }

func (h *host) probe() error {
	if err := h.barrier.current(); err != nil {
		return err
	}
	live := h.members.view.live()
	for i := range h.records.count() {
		if o, ok := h.members.view.owner(shardName(i + 1)); ok {
			if _, alive := live[o.Node]; alive {
				return nil
			}
		}
	}
	return errNoOwners
}
