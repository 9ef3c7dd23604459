package replica

import (
	"context"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// A Host uses a replica: it receives the changes from the log, and serves the shard while this node is the owner. No
// method is called before Run, and none after Run has returned.
type Host interface {
	// Loaded is called each time the store has been opened: at the beginning, and after a checkpoint has replaced it.
	// Nothing is applied to the store before Loaded returns. An error ends the replica.
	Loaded(s *store.Store) error
	// Applied is called with each batch in order, from this node and from others, after the store has applied it and
	// before the caller of the commit is answered. The slice is valid only during the call. Applied must not wait for a
	// commit. An error ends the replica: the host's memory no longer matches the store.
	Applied(changes []byte, at sharedlog.Position) error

	// Prepare is called before the replica tries to take the lease. It waits until this node has the state that an
	// owner needs, while other nodes can still try; for a shard with messages, that is the end of the control shard's
	// log. After an error the replica tries again later.
	Prepare(ctx context.Context) error
	// Claimed is called when the claim is in the log, so that no other node can commit any more, and before Serve. It
	// waits for changes since Prepare. After an error the replica gives up the ownership.
	Claimed(ctx context.Context) error
	// Serve is called when this node is the owner and the store is at the end of the log. It creates the objects that
	// answer requests, and returns a function that ends them. stop is called when the ownership ends: at once if it was
	// lost, and before its end in a hand-over, when commits still succeed. stop returns when no more requests are
	// answered.
	Serve(o *Ownership) (stop func(), err error)

	// Fetch fills a checkpoint of another replica's store into in. It is called when the log no longer has what this
	// replica needs. ErrNoSource ends the replica; after any other error Fetch is called again.
	Fetch(ctx context.Context, in *store.Incoming) error
}
