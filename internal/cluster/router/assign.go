package router

import "github.com/sluicemq/sluice/internal/catalog"

// Assign selects the shards of a queue from the numbers 1 to shards: as many as its tag requests, or spread without a
// tag. It implements catalog.Options.Place.
//
// A FIFO queue has several shards only if it is created with independent message groups, and it keeps them: a group
// that changed its shard would lose its order. A standard queue that is narrowed sends to fewer shards, but still
// receives from all. A queue whose tag does not change keeps its shards, even if the default changes. An internal queue
// is on one shard.
func Assign(q, old *catalog.Queue, spread, shards int) {
	wanted := q.Spread()
	if wanted == 0 {
		wanted = spread
	}
	have := q.Shards
	switch {
	case old == nil && (q.Name.Internal() || q.Attributes.FIFO && !q.Attributes.ByGroup()):
		wanted = 1
	case old == nil:
	case q.Attributes.FIFO || q.Tags[catalog.TagShards] == old.Tags[catalog.TagShards]:
		return
	case have == nil:
		have = []int{1}
	}
	wanted = max(1, min(wanted, shards, catalog.MaxSpread))
	q.Shards = Place(q.ID, have, wanted, shards)
	q.Sends = 0
	if wanted < len(q.Shards) {
		q.Sends = wanted
	}
}

// PlacementOf returns the placement of a queue from its record. The outboxes of the shards in travel may hold messages
// for it; nil means that none do.
func PlacementOf(q *catalog.Queue, travel []int) Placement {
	p := Placement{Shards: q.Shards, All: travel, FIFO: q.Attributes.FIFO}
	if p.Shards == nil {
		p.Shards = []int{1}
	}
	p.Sends = p.Shards
	if q.Sends > 0 {
		p.Sends = p.Shards[:q.Sends]
	}
	return p
}
