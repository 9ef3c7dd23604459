package router

import "github.com/sluicemq/sluice/internal/queue"

// The number of its shard is in the bits 51 to 62 of a message's position,
// below the one that the engine uses and above any that counts messages. The
// first shard is 0 there: the receipt handles of a single node stay valid when
// it becomes the first of a cluster.
const (
	shardShift = 51
	shardBits  = 12
	// MaxShards is how many shards a cluster can have.
	MaxShards = 1 << shardBits

	shardMask = queue.Position(MaxShards-1) << shardShift
)

// seal returns the position of a message on shard n as the API sees it.
func encodeShard(p queue.Position, n int) queue.Position {
	return p&^shardMask | queue.Position(n-1)<<shardShift&shardMask
}

// open is the inverse of seal.
func decodeShard(p queue.Position) (inner queue.Position, n int) {
	return p &^ shardMask, int(p&shardMask>>shardShift) + 1
}
