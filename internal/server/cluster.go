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
	"github.com/sluicemq/sluice/internal/observe/queueseries"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// Node is this machine's part in the installation that clients see: all of it, see
// alone, or a node of a cluster, whose nodes are set up alike: regions, accounts, public
// URL and the operator's choice of a root key are the same for all.
type Node interface {
	// Control returns this node's copy of the control store, which outlives the
	// server. It has to be initialised; see Initialise.
	Control() *control.Control
	// Forward gives payload to ServeForwarded at the node that owns the control
	// store, and returns its answer when Control has caught up with what that
	// node had changed when it answered: the client's next request, to this node
	// or any that this one asks, finds its change. It does not wait for ever. A
	// payload has at most 1 MiB.
	Forward(ctx context.Context, payload []byte) (answer []byte, err error)
	// Serve begins to serve messages, in the queues of that catalog, and returns
	// what stands in the place of this machine's shard. It runs deliver for each
	// shard that is served here, as long as it is.
	Serve(c *catalog.Catalog, deliver func(context.Context, *shard.Shard)) (Messages, error)
	// Ask puts a question to the servers of all other nodes, and returns their answers and the names of the nodes that
	// have not answered.
	Ask(ctx context.Context, question []byte) (answers [][]byte, silent []string)
	// CatchUp returns when Control has caught up with all that had been changed when
	// it was called, or an error if that cannot be known.
	CatchUp(ctx context.Context) error
	// CatchUpPause is how much time has to be between two calls of CatchUp for callers
	// that are not verified.
	CatchUpPause() time.Duration
	// SharesKeys reports whether the keys of the installation are in the control store,
	// where all nodes find them, and not in the data directory.
	SharesKeys() bool
	// Place is a catalog.Options.Place.
	Place(q, old *catalog.Queue)
	// Current returns an error if Control may be out of date.
	Current() error
	// Reads returns nil if every program that reads the control store, at present, reads data directories of that
	// format. Otherwise the error says which node does not.
	Reads(format int) error
	// Low reports whether the disk of another node is nearly full.
	Low() bool
	// Reclaim gives back the space of what was deleted.
	Reclaim() error
	// Failed returns a channel that is closed when the node cannot go on; Err then
	// says why.
	Failed() <-chan struct{}
	Err() error
	// Snapshot makes a directory like that of a single machine, with all messages,
	// and returns how many shards there are.
	Snapshot(ctx context.Context, dir string) (shards int, err error)
	// Close hands over what the node owns and leaves the cluster.
	Close(ctx context.Context) error
	// The operator's view of the cluster, and commands to it. The status of a machine that is alone names no node.
	admin.Cluster
}

// Messages is where messages are kept: a shard on this machine, or those of a
// cluster.
type Messages interface {
	sqs.Shard
	inspect.Shard
	queueseries.Source
	// Standings returns how the queues stand that are kept on this machine.
	Standings(ctx context.Context) ([]queue.Standing, error)
	// TopicStandings returns what is counted on this machine of topics.
	TopicStandings(ctx context.Context) ([]queue.TopicStanding, error)
	// Stored returns how much is kept on this machine of some accounts; of those whose value is true, in bytes as well.
	Stored(ctx context.Context, accounts map[string]bool) (map[string]shard.Stored, error)
	// Uses returns what is known of the use of queues, over all shards; of a queue of which not all is known, nothing.
	Uses(ctx context.Context, ids []queue.ID) ([]queue.Use, error)
	// Publish accepts publications to one topic: all copies are durable when it returns.
	Publish(ctx context.Context, publications []queue.Publication) ([]queue.Published, error)
	// Drain ends the long polls with an empty answer; from now on none waits.
	Drain()
	// Probe returns nil if messages could be sent and received now.
	Probe(ctx context.Context) error
}

// NodeEnv is what a server gives to its node of a cluster.
type NodeEnv struct {
	Totals   *shard.Totals                                // counts what happens to queues
	Watch    func(now func() queue.Instant) shard.Watcher // called for messages; nil: not called
	Cipher   func() queue.Cipher                          // of encrypted messages, when the node serves; nil: there are no keys
	Disk     *store.Disk
	Cache    *store.Cache
	Endpoint func() string        // where clients reach this server, as soon as it is known
	Low      func() bool          // whether the disk is nearly full
	Answers  func() bool          // whether this server answers clients
	Shift    func() time.Duration // of what the machine's clock says; nil: none
	Waiting  func(what string)    // called with what the node waits for, until it has joined
	// Initialise calls Initialise of this package, and Forwarded answers requests that
	// other nodes have forwarded.
	Initialise func(*control.Control) error
	Forwarded  func(ctx context.Context, payload []byte) ([]byte, error)
	// Answer answers what other nodes ask of each by Node.Ask.
	Answer func(ctx context.Context, question []byte) ([]byte, error)
	// Tell returns what this node tells the others with each heartbeat, and Hear takes in what another one tells.
	Tell func() json.RawMessage
	Hear func(node string, told json.RawMessage)
}

// Initialise puts into the control store of a cluster what every installation has,
// unless it is there: keys, from the data directory if that was a single node's,
// and the secret of receipt handles. The node that owns the control store calls it
// whenever it has become the owner, and so does a machine alone with such a store. On
// other nodes it returns control.ErrElsewhere.
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

// Initialised reports whether Initialise has been called for the control store, as
// far as this node's copy of it is.
func Initialised(ctl *control.Control) (bool, error) {
	_, vault, problems, err := identity.Check(ctl.Store())
	if len(problems) > 0 {
		err = errors.Join(err, errors.New(problems[0]))
	}
	return vault != nil, err
}
