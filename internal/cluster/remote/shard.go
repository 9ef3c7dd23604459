package remote

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// Shard holds the methods that any node can call. At the owner they are those of a shard.Shard, at the other nodes
// those of a Client.
type Shard interface {
	Send(ctx context.Context, id queue.ID, messages []queue.Outgoing) ([]queue.Sent, error)
	Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error)
	Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]shard.Message, error)
	Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error
	Delete(ctx context.Context, id queue.ID, receipts []queue.Receipt) ([]error, error)
	ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error)
	Purge(ctx context.Context, id queue.ID) error
	MayPurge(ctx context.Context, id queue.ID) error
	PurgeOutbox(ctx context.Context, id queue.ID) (queue.Position, error)
	PurgeAfter(ctx context.Context, id queue.ID, marks []queue.Mark) error
	Kept(ctx context.Context, id queue.ID) (queue.Kept, error)
	MayUndoPurge(ctx context.Context, id queue.ID) error
	UndoPurge(ctx context.Context, id queue.ID) (queue.Kept, error)
	Counts(ctx context.Context, id queue.ID) (queue.Counts, error)
	States(ctx context.Context, id queue.ID) ([]shard.State, error)
	Groups(ctx context.Context, id queue.ID, g queue.Groups) (queue.GroupsResult, error)
	Glances(ctx context.Context, ids []queue.ID) ([]shard.Glance, error)
	Peek(ctx context.Context, id queue.ID, p queue.Peek) (queue.PeekResult, error)
	Discard(ctx context.Context, id queue.ID, ask queue.Locate) (queue.Discarded, error)
	Census(ctx context.Context, id queue.ID, c queue.Census) (queue.CensusResult, error)
	StartMove(ctx context.Context, id queue.ID, t queue.MoveTask) error
	CancelMove(ctx context.Context, id queue.ID, task string) (queue.MoveTask, error)
	Moves(ctx context.Context, id queue.ID) ([]queue.MoveTask, error)
	Series(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error)
	SizedSeries(ctx context.Context, id queue.ID, name string, from, to queue.Instant) ([]queue.Row, error)
	SeriesNames(ctx context.Context, prefix, after string, since queue.Instant) ([]queue.SeriesName, error)
	Uses(ctx context.Context, ids []queue.ID) ([]queue.Use, error)
	EmptyReceives(ctx context.Context, id queue.ID, n uint64) error
	Accept(ctx context.Context, id queue.ID, from queue.FromShard, messages []queue.Transfer) error
}
