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

// Engine is what carries a cluster: logs, leases, and messages between nodes.
type Engine interface {
	// Log returns the log of that name, which it makes if it is not there. It goes
	// on trying as long as ctx lasts.
	Log(ctx context.Context, name string) (sharedlog.Log, error)
	// Leases returns the cluster's leases, as Log does. Those that are taken here have that length.
	Leases(ctx context.Context, length time.Duration) (sharedlog.Leases, error)
	Messenger() messenger.Messenger
	// Lead makes the server of a node the one that a log goes by, if there is such a
	// thing: the loss of another node then does not hold up its owner.
	Lead(ctx context.Context, log sharedlog.Log, server string) error
	// Elect has this node's part of the engine stand for the lead of each group that has no leader, or whose leader is
	// on a server that gone reports and the engine does not know to be gone. It leaves the lead of a log to other nodes
	// for the time that turn returns; "" stands for a group that is not the log of a shard. It stands again after a
	// while. Elect returns how many groups have no leader yet.
	Elect(gone func(server string) bool, turn func(log string) time.Duration, again time.Duration) (left int)
	// Yield gives to others what this node's part of the engine leads beside logs, as far as that is done while ctx
	// lasts: the leases, which other nodes are about to take.
	Yield(ctx context.Context)
	// Copies returns how many copies of a log are complete, and how many there should
	// be: so many nodes, less one majority, may be lost before it stops. An error that
	// is ErrLeaderless says that this node's part of the engine knows of no server by which
	// the log goes.
	Copies(ctx context.Context, log sharedlog.Log) (complete, wanted int, err error)
	// Reached returns the nodes whose part of the engine this node's is connected to, as
	// far as that is known.
	Reached() map[string]bool
	// Broken returns an error if this node's part of the engine has ended and only
	// another process can begin it anew.
	Broken() error
	// Forget takes a server out of the engine that will not come back, so that
	// what it kept is kept by another.
	Forget(ctx context.Context, server string) error
	// Close ends this node's part of the engine: what it leads is led by others
	// first.
	Close() error
}
