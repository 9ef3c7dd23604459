package cluster

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
)

// Serve begins to keep and to serve the shards with messages. The catalog must be
// a reader of Control.
func (n *Node) Serve(c *catalog.Catalog) {
	c.OnChange(n.changed)
	n.mu.Lock()
	n.catalog = c
	n.mu.Unlock()
	n.wake()
}

// queues returns the catalog, or nil before Serve.
func (n *Node) queues() *catalog.Catalog {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.catalog
}

// Router returns what stands in the place of a shard.
func (n *Node) Router() *router.Router { return n.router }

// Place is a catalog.Options.Place.
func (n *Node) Place(q, old *catalog.Queue) {
	router.Assign(q, old, max(1, n.o.Spread), n.records.count())
}

// placement returns where a queue is.
func (n *Node) placement(id queue.ID) (router.Placement, bool) {
	cat := n.queues()
	if cat == nil {
		return router.Placement{}, false
	}
	q := cat.ByID(id)
	if q == nil {
		return router.Placement{}, false
	}
	var all []int // dead letters may wait for it anywhere
	for i := range n.records.count() {
		all = append(all, i+1)
	}
	return router.PlacementOf(q, all), true
}

// Low reports whether the disk of any node is nearly full.
func (n *Node) Low() bool {
	for _, b := range n.view.live() {
		if b.Low {
			return true
		}
	}
	return false
}

var errNoOwners = errors.New("no shard has an owner")

// Probe returns nil if this node can answer: it knows what there is, and there are
// owners to be asked. That a single shard has none does not count, because then no
// node could do better.
func (n *Node) Probe(context.Context) error {
	if err := n.Current(); err != nil {
		return err
	}
	live := n.view.live()
	for i := range n.records.count() {
		if h, ok := n.view.owner(shardName(i + 1)); ok {
			if _, alive := live[h.Node]; alive {
				return nil
			}
		}
	}
	return errNoOwners
}
