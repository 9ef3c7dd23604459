package cluster

import (
	"context"
	"fmt"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// ownedShard is a shard that this node owns, as all nodes call it. While a node makes a snapshot, the shard learns no
// position in the outbox of another shard: the snapshot of that one may lack it, and a shard that is restored from it
// would give the position to a new message, which this shard would skip. Messages from other shards wait where they
// come from; see routing.deliver. Purges, which bring positions of what was purged on its way, wait here.
type ownedShard struct {
	*shard.Shard
	forwards *forwardBarrier
}

// PurgeAfter implements remote.Shard.
func (s ownedShard) PurgeAfter(ctx context.Context, id queue.ID, marks []queue.Mark) error {
	if len(marks) > 0 {
		leave, err := s.forwards.pass(ctx)
		if err != nil {
			return fmt.Errorf("%w: a snapshot of all shards is being made: %w", shard.ErrNotBegun, err)
		}
		defer leave()
	}
	return s.Shard.PurgeAfter(ctx, id, marks)
}
