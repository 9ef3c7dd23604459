package replica

import (
	"context"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/store"
)

// A Host is what a replica works for: it learns what the log brings, and serves the shard while this node is the
// owner. No method is called before Run, and none after it has returned.
type Host interface {
	// Loaded is called whenever the store has been opened, at the beginning and after a checkpoint has replaced it.
	// Nothing is applied to the store before Loaded returns. An error ends the replica.
	Loaded(s *store.Store) error
	// Applied is called with each batch in order, this node's own and those of other nodes, when the store has it and
	// before the caller of the commit is answered. The slice is valid during the call only. Applied must not wait for
	// a commit. An error ends the replica: what the host has in memory no longer matches the store.
	Applied(changes []byte, at sharedlog.Position) error

	// Prepare is called before the replica tries to get the lease. It waits for what an owner must know before other
	// nodes are kept from trying; for a shard of messages that is the end of the control shard's log. After an error
	// the replica tries again later.
	Prepare(ctx context.Context) error
	// Claimed is called when the claim is in the log, so that no other node can commit any more, and before Serve. It
	// waits for what may have changed since Prepare. After an error the replica gives up the ownership.
	Claimed(ctx context.Context) error
	// Serve is called when this node is the owner and the store is at the end of the log. It builds what answers
	// requests, and returns what ends that. stop is called when the ownership ends: at once if it was lost, and before
	// its end if it is handed over, when commits still succeed. stop returns when nothing is answered any more.
	Serve(o *Ownership) (stop func(), err error)

	// Fetch fills a checkpoint of another replica's store into in. It is called when the log no longer has what this
	// replica needs. ErrNoSource ends the replica; after any other error Fetch is called again.
	Fetch(ctx context.Context, in *store.Incoming) error
}
