package router

import (
	"cmp"
	"slices"

	"github.com/sluicemq/sluice/internal/queue"
)

// Placement records the shards of a queue.
type Placement struct {
	// Sends are the shards that producers send to. In a FIFO queue, the hash of a message group chooses one of them, so
	// they never change.
	Sends []int
	// Shards are the shards that consumers ask: Sends, and those that may still hold older messages.
	Shards []int
	// All are Shards and the shards whose outboxes may hold messages for the queue. Nil means only Shards.
	All  []int
	FIFO bool
}

func (p *Placement) all() []int {
	if p.All == nil {
		return p.Shards
	}
	return p.All
}

// home returns the shard of a message group.
func (p *Placement) home(group string) int {
	if len(p.Sends) == 1 {
		return p.Sends[0]
	}
	return p.Sends[queue.PartOf(group, len(p.Sends))]
}

// Place returns the shards of a queue that is spread over spread shards, out of those with the numbers 1 to shards. It
// starts with have, the queue's present shards, and adds more if they are too few. It never removes one, because it may
// hold messages.
//
// New shards are added in an order that is specific to each queue, by rendezvous hashing. So queues are spread evenly,
// and a queue keeps its first shards when it is widened, even if the cluster has more shards by then.
func Place(id queue.ID, have []int, spread, shards int) []int {
	out := slices.Clone(have)
	if len(out) >= spread {
		return out
	}
	var others []int
	for n := 1; n <= shards; n++ {
		if !slices.Contains(out, n) {
			others = append(others, n)
		}
	}
	slices.SortFunc(others, func(a, b int) int {
		return cmp.Or(cmp.Compare(weight(id, b), weight(id, a)), cmp.Compare(a, b))
	})
	return append(out, others[:min(spread-len(out), len(others))]...)
}

// weight returns the weight of a shard for a queue: the greatest weights win.
func weight(id queue.ID, shard int) uint64 { return mix(mix(uint64(id)) ^ uint64(shard)) }

// mix spreads every bit of x over all bits of the result: the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
