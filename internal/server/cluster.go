package server

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/inspect"
	"github.com/sluicemq/sluice/internal/api/sqs"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/queueseries"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// Node is this machine's part of the installation that clients see: the whole installation, see alone, or a node of a
// cluster. The nodes of a cluster have the same configuration of regions, accounts, public URL and the operator's root
// key.
type Node interface {
	// Control returns this node's copy of the control store, which outlives the server. It must be initialised; see
	// Initialise.
	Control() *control.Control
	// Forward passes payload to ServeForwarded on the node that owns the control store. It returns the answer when
	// Control has caught up with the changes that the other node had made when it answered. So the client's next
	// request, to this node or any node that it asks, sees its change. The wait is limited. A payload has at most 1
	// MiB.
	Forward(ctx context.Context, payload []byte) (answer []byte, err error)
	// Serve starts serving the messages of the catalog's queues, and returns the object that replaces this machine's
	// shard. It runs deliver for each shard while this node serves the shard.
	Serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) (Messages, error)
	// Ask sends a question to the servers of all other nodes. It returns their answers and the names of the nodes that
	// did not answer.
	Ask(ctx context.Context, question []byte) (answers [][]byte, silent []string)
	// CatchUp returns when Control has caught up with every change made before the call. It returns an error if it
	// cannot find out.
	CatchUp(ctx context.Context) error
	// CatchUpPause is the minimum time between two calls of CatchUp for unverified callers.
	CatchUpPause() time.Duration
	// SharesKeys reports whether the keys of the installation are in the control store,
	// where all nodes find them, and not in the data directory.
	SharesKeys() bool
	// Place implements catalog.Options.Place.
	Place(q, old *catalog.Queue)
	// ClockShift returns what to add to the time of this machine's clock, to get the time of most nodes.
	ClockShift() time.Duration
	// Current returns an error if Control may be out of date.
	Current() error
	// Reads returns nil if every program that currently reads the control store reads data directories with a format.
	// Otherwise the error names a node that does not.
	Reads(format int) error
	// Low reports whether the disk of another node is nearly full.
	Low() bool
	// Reclaim frees the space of deleted data.
	Reclaim() error
	// Failed returns a channel that is closed when the node cannot continue. Err then returns the reason.
	Failed() <-chan struct{}
	Err() error
	// Snapshot creates a directory like that of a single machine, with all messages, and returns the number of shards.
	Snapshot(ctx context.Context, dir string) (shards int, err error)
	// BackupID returns the identity of the continuous backups of the installation, which it creates at the first use.
	// A restored backup has another one. Call it where the control store is owned.
	BackupID(ctx context.Context) (string, error)
	// Close hands over everything that the node owns and leaves the cluster.
	Close(ctx context.Context) error
	// The operator's view of the cluster, and commands. The status of a single machine names no node.
	admin.Cluster
}

// Messages is where messages are stored: a shard on this machine, or the shards of a cluster.
type Messages interface {
	sqs.Shard
	inspect.Shard
	queueseries.Source
	// Standings returns the state of the queues on this machine.
	Standings(ctx context.Context) ([]queue.Standing, error)
	// TopicStandings returns the counters of topics on this machine.
	TopicStandings(ctx context.Context) ([]queue.TopicStanding, error)
	// Stored returns how much of the given accounts' data is on this machine. For accounts whose value is true it
	// includes the bytes.
	Stored(ctx context.Context, accounts map[string]bool) (map[string]shard.Stored, error)
	// Uses returns the use of queues, over all shards. It omits a queue if its use on one of its shards is unknown.
	Uses(ctx context.Context, ids []queue.ID) ([]queue.Use, error)
	// Publish accepts publications to one topic: all copies are durable when it returns.
	Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error)
	// Drain ends the long polls with an empty answer. From now on no poll waits.
	Drain()
	// Probe returns nil if messages could be sent and received now.
	Probe(ctx context.Context) error
}

// NodeEnv holds the functions that a server provides to its node of a cluster.
type NodeEnv struct {
	Totals *shard.Totals                                // counts the events of queues
	Watch  func(now func() queue.Instant) shard.Watcher // called for messages; nil: not called
	// of encrypted messages, when the node serves; nil: there are no keys
	Cipher   func() queue.Cipher
	Disk     *store.Disk
	Cache    *store.Cache
	Endpoint func() string        // URL of this server for clients, once known
	Low      func() bool          // whether the disk is nearly full
	Answers  func() bool          // whether this server answers clients
	Shift    func() time.Duration // shift of the machine's clock; nil: none
	Waiting  func(what string)    // called with the reason for waiting, until the node has joined
	// Initialise calls the package's Initialise. Forwarded answers requests that other nodes forward.
	Initialise func(*control.Control) error
	Forwarded  func(ctx context.Context, payload []byte) ([]byte, error)
	// Answer answers the questions that other nodes ask with Node.Ask.
	Answer func(ctx context.Context, question []byte) ([]byte, error)
	// Tell returns this node's additional data for each heartbeat, and Hear receives that of another node.
	Tell func() json.RawMessage
	Hear func(node string, told json.RawMessage)
}

// Initialise adds to the control store of a cluster the records of every installation, unless they exist: the keys,
// from the data directory if that belonged to a single node, and the secret of receipt handles. The node that owns the
// control store calls it each time it becomes the owner; a single machine with such a store does, too. On other nodes
// it returns control.ErrElsewhere.
func Initialise(c *Config, ctl *control.Control) error {
	roots, err := identity.LoadCredentials(filepath.Join(c.Data, CredentialsFile), nil)
	if err != nil {
		return err
	}
	vault, missing := identity.OpenVault(filepath.Join(c.Data, MasterKeyFile))
	if missing != nil && !errors.Is(missing, identity.ErrNoMasterKey) {
		return missing
	}
	there, err := Initialised(ctl)
	if err != nil {
		return err
	}
	if !there && vault == nil {
		if err := mayMakeMasterKey(ctl.Store(), missing); err != nil {
			return err
		}
	}
	return ctl.Change(context.Background(), func(tx *control.Tx) error {
		if err := identity.Initialise(tx, vault, roots, c.Accounts); err != nil {
			return err
		}
		return catalog.Initialise(tx)
	})
}

func (c *Config) initialise(ctl *control.Control) error { return Initialise(c, ctl) }

// Initialised reports whether Initialise has run for the control store, as far as this node's copy shows.
func Initialised(ctl *control.Control) (bool, error) {
	_, vault, problems, err := identity.Check(ctl.Store())
	if len(problems) > 0 {
		err = errors.Join(err, errors.New(problems[0]))
	}
	return vault != nil, err
}
