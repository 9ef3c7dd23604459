package cluster

import (
	"context"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// ErrLeaderless is an error of Engine.Copies.
var ErrLeaderless = errors.New("the log has no leader")

// Engine provides the logs, the leases, and the messages between nodes.
type Engine interface {
	// Log returns the log of that name and creates it if necessary. It retries until ctx ends.
	Log(ctx context.Context, name string) (sharedlog.Log, error)
	// Leases returns the cluster's leases; it retries as Log does. Leases taken through the result have the given
	// length.
	Leases(ctx context.Context, length time.Duration) (sharedlog.Leases, error)
	Messenger() messenger.Messenger
	// Lead makes a node's server the leader of a log, if the engine has leaders. The loss of another node then does not
	// delay the owner.
	Lead(ctx context.Context, log sharedlog.Log, server string) error
	// Elect makes this node's part of the engine stand for election in each group without a leader, or whose leader is
	// on a server that gone reports and the engine still counts as present. It first leaves a log to other nodes for
	// the time that turn returns; "" stands for a group that is not the log of a shard. After a pause it stands again.
	// Elect returns how many groups still have no leader.
	Elect(gone func(server string) bool, turn func(log string) time.Duration, again time.Duration) (left int)
	// Yield moves the leader of the leases' group from this node's part of the engine to another node, if possible
	// before ctx ends, because other nodes are about to take the leases.
	Yield(ctx context.Context)
	// Copies returns the number of complete copies of a log, and the number it should have. The log survives the loss
	// of all but a majority of them. ErrLeaderless means that this node's part of the engine knows no leader of the
	// log.
	Copies(ctx context.Context, log sharedlog.Log) (complete, wanted int, err error)
	// LeaseCopies returns the same numbers for the leases.
	LeaseCopies(ctx context.Context) (complete, wanted int, err error)
	// Reached returns the nodes to whose part of the engine this node's part is connected, as far as known.
	Reached() map[string]bool
	// Broken returns an error if this node's part of the engine has ended, and only a new process can restart it.
	Broken() error
	// Forget removes a server permanently from the engine, so that another server keeps its data.
	Forget(ctx context.Context, server string) error
	// Close ends this node's part of the engine, after other servers have taken over its leads.
	Close() error
}
