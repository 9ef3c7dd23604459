package router

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// preferred returns the shards in the order in which a send tries them. The order is random, but every second time a
// shard of this node comes first: that saves a hop, and the other shards get messages even if all clients use one node.
// Shards whose owner may have died come last.
func (o *owners) preferred(shards []int) []int {
	order := o.shuffled(shards)
	if rand.IntN(2) == 0 {
		if i := slices.IndexFunc(order, func(n int) bool { return o.Local(n) }); i > 0 {
			order[0], order[i] = order[i], order[0]
		}
	}
	return order
}

// shuffled returns the shards in random order, those with a suspect owner at the end.
func (o *owners) shuffled(shards []int) []int {
	order := slices.Clone(shards)
	rand.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int) int { return o.rank(a) - o.rank(b) })
	return order
}

func (o *owners) rank(n int) int {
	if o.suspect(n) {
		return 1
	}
	return 0
}

// inOrder returns the shards in the order in which a call tries them: those whose owner is not suspect first, then
// those that serve the most, then those of this node.
func (o *owners) inOrder(shards []int, served map[int]int) []int {
	order := o.shuffled(shards)
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(o.rank(a)-o.rank(b), served[b]-served[a], o.distance(a)-o.distance(b))
	})
	return order
}

// distance is 0 for a shard of this node and 1 for others.
func (o *owners) distance(n int) int {
	if o.Local(n) {
		return 0
	}
	return 1
}
