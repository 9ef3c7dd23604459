package router

import "github.com/sluicemq/sluice/internal/queue"

// Bits 51 to 62 of a message's position hold the number of its shard, as the API
// sees it. They are below the bit that the engine uses and above any bit that a
// counter of messages reaches. The first shard is 0 there: the receipt handles of a
// single machine stay valid when it becomes the first node of a cluster.
const (
	shardShift = 51
	shardBits  = 12
	// MaxShards is the maximum number of shards in a cluster.
	MaxShards = 1 << shardBits

	shardMask = queue.Position(MaxShards-1) << shardShift
)

// encodeShard returns the position of a message on shard n in the form that the API uses.
func encodeShard(p queue.Position, n int) queue.Position {
	return p&^shardMask | queue.Position(n-1)<<shardShift&shardMask
}

// decodeShard is the inverse of encodeShard.
func decodeShard(p queue.Position) (inner queue.Position, n int) {
	return p &^ shardMask, int(p&shardMask>>shardShift) + 1
}
