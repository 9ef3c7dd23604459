package cluster

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// DefaultShards is the number of shards with messages in a new cluster.
const DefaultShards = 6

// MaxShards is the maximum number of shards with messages. A shard's number is part of each position.
const MaxShards = 64

// Options configures a node.
type Options struct {
	Name    string // of the node
	Cluster string // its name
	Peers   []Peer // the initial nodes, including this one
	Dir     string // the data directory
	Shards  int    // of a new cluster; 0 means DefaultShards
	Spread  int    // shards of a queue that does not specify a number; 0 means one
	// Engine starts or connects to the engine. server names this node, and stays the same as long as the node keeps its
	// data.
	Engine func(ctx context.Context, server string) (Engine, error)
	// Found adds to the control store the records that must be equal on all nodes, unless they exist. It runs on the
	// node that owns the control shard, before any node regards the cluster as founded.
	Found func(*control.Control) error
	// Forward answers the requests that other nodes forward to the owner of the control shard.
	Forward func(ctx context.Context, request []byte) ([]byte, error)
	// Tell returns, as JSON, additional data for each heartbeat, and Hear receives that of another node. Both may be
	// nil.
	Tell func() json.RawMessage
	Hear func(node string, told json.RawMessage)
	// Answer answers the questions of other nodes. See Node.Ask. Nil answers none.
	Answer   func(ctx context.Context, question []byte) ([]byte, error)
	Disk     *store.Disk
	Cache    *store.Cache
	Endpoint func() string // where clients reach this node
	Low      func() bool   // whether its disk is nearly full
	Answers  func() bool   // whether the server answers clients; nil means always
	Version  string
	Reads    int        // the highest format of data directories that this program reads; 0 means formats.Newest
	Keep     queue.Keep // how long the metrics of queues are kept
	NoUndo   bool       // whether purges on shards that this node owns keep nothing
	// Totals counts the events of queues in this process. Nil counts nothing.
	Totals *shard.Totals
	// Watch is shard.Options.Watch for each shard that this node owns.
	Watch func(now func() queue.Instant) shard.Watcher
	// Cipher returns shard.Options.Cipher for the shards that this node owns. Nil means no encryption.
	Cipher func() queue.Cipher
	// Waiting is called with the reason why a node has not found its cluster yet. Nil reports nothing.
	Waiting func(what string)
	// Certificate returns the certificate that identifies this node to the others. Nil means a node without a
	// certificate that expires.
	Certificate func() (*x509.Certificate, error)
	// ReplaceAfter is how long a node may be away before other nodes get its replicas. 0 means DefaultReplaceAfter.
	ReplaceAfter time.Duration
	// Failover is approximately how long the shards of a dead node are without an owner, between MinFailover and
	// MaxFailover. 0 means DefaultFailover. All other times that depend on the speed of nodes and disks follow from it.
	Failover time.Duration
	Logs     Logs // how long the logs keep flushed records; the zero value uses the defaults of Logs
	// Shift is added to the machine's clock, to test the effect of a wrong clock. Nil adds nothing.
	Shift func() time.Duration
	// Loading is called before a checkpoint of the control shard is fetched, and again before it is loaded into memory,
	// to test the effect of a slow machine. Nil does nothing.
	Loading func()
	Logger  *slog.Logger // nil discards
}

// Node is this node of the cluster. Its methods are safe for concurrent use.
//
// It only connects its parts: membership knows the nodes, barrier makes this node's control store current, director
// decides where shards are kept, host keeps this node's shards, and snapshots copies all shards.
type Node struct {
	*common
	cancel    context.CancelFunc
	members   *membership
	barrier   *barrier
	control   *controlShardReplica
	director  *director
	host      *host
	snapshots *snapshots
	router    *router.Router
	elections *elections
	founded   chan struct{} // closed when Founded returns
}

// Join makes this process a node of the cluster. It returns when the node follows the control shard. Founded waits
// until the node knows everything the others know.
func Join(ctx context.Context, o Options) (_ *Node, err error) {
	o.defaults()
	id, isNew, err := openIncarnation(o.Dir, o.Cluster, o.Name)
	if err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	n := assemble(ctx, o, id)
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("join the cluster: %w", err), n.Close(ctx))
		}
	}()
	if err := n.connect(ctx); err != nil {
		return nil, err
	}
	if err := n.members.checkOnly(ctx); err != nil {
		return nil, err
	}
	// From here on, decisions of the cluster reach the stores.
	if isNew {
		if err := claimDirectory(o.Dir); err != nil {
			return nil, err
		}
		n.control.claimed.Store(true)
	}
	if err := n.control.follow(ctx); err != nil {
		return nil, err
	}
	n.director.store = n.control.store
	routes := n.host.routing
	n.router = router.New(router.Options{
		Queue: routes.placement, Owner: routes.owner, Local: routes.owns, Shards: n.records.count,
		Messenger: n.messages, Position: n.Position,
		Changed: func(number int) <-chan struct{} { return n.members.view.watch(shardName(number)) },
	})
	routes.router = n.router
	n.handle()
	for _, loop := range []func(){
		n.members.run, n.members.watchOwners, n.elections.run, n.barrier.run, n.director.run,
		n.host.run, n.host.trimmer.run, n.host.copies.run, n.watchCertificate,
	} {
		n.tasks.start(loop)
	}
	return n, nil
}

// assemble creates the parts of a node, which stay inactive.
func assemble(ctx context.Context, o Options, id incarnation) *Node {
	c := &common{
		o:       o,
		times:   timingOf(o.Failover),
		log:     o.Logger,
		id:      id,
		records: newRecords(),
		failure: failure{happened: make(chan struct{})},
	}
	n := &Node{common: c, founded: make(chan struct{})}
	c.ctx, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	n.members = newMembership(c)
	n.director = &director{common: c, members: n.members, alarm: newAlarm()}
	n.control = &controlShardReplica{common: c, members: n.members, director: n.director, loaded: make(chan struct{})}
	n.barrier = &barrier{common: c, control: n.control, members: n.members}
	forwards := newForwardBarrier()
	n.host = newHost(n.members, n.barrier, n.control, forwards)
	n.snapshots = &snapshots{
		common: c, members: n.members, control: n.control, locals: n.host.locals, barrier: n.barrier,
		forwards: forwards,
	}
	n.control.leads, n.control.handOvers, n.control.wake = n.host.leads, n.host.handOvers, n.wake
	n.members.vouch, n.members.told = n.control.vouch, n.barrier.told
	n.elections = &elections{common: c, members: n.members, turn: n.host.candidacy.electionTurn, alarm: newAlarm()}
	n.members.self, n.members.owners = n.host.heartbeat, n.host.knownOwners
	n.members.changed = func() {
		n.wake()
		n.elections.alarm.ring()
	}
	return n
}

// wake makes this node check at once which shards it should keep, and where shards should be.
func (n *Node) wake() {
	n.host.alarm.ring()
	n.director.alarm.ring()
}

// connect waits for the engine, which needs a majority of the nodes.
func (n *Node) connect(ctx context.Context) error {
	engine, err := n.o.Engine(ctx, n.id.server())
	if err != nil {
		return err // nothing to close
	}
	n.engine = engine
	n.tasks.start(n.reportWaiting)
	n.messages = n.engine.Messenger()
	n.host.mux = &rebindMux{Messenger: n.messages, handlers: make(map[string]messenger.Handler)}
	leases, err := n.engine.Leases(ctx, n.times.lease)
	if err != nil {
		return err
	}
	n.leases = newLeaseList(leases, n.times.listAge)
	return n.control.open(ctx)
}

// Kinds of messages between nodes, in addition to those of remote and replica. They exist since the first format.
const (
	kindHeartbeat = "beat"    // the state of a node
	kindNudge     = "nudge"   // a shard was given up: take it
	kindOwner     = "owner"   // a shard has a new owner
	kindForward   = "forward" // a request that the owner of the control shard must execute
)

// handle starts to answer the other nodes.
func (n *Node) handle() {
	n.messages.Handle(kindHeartbeat, n.members.onHeartbeat)
	n.messages.Handle(kindOwner, n.members.onOwner)
	n.messages.Handle(kindNudge, n.host.candidacy.nudged)
	n.messages.Handle(kindForward, n.serveForwarded)
	n.messages.Handle(kindAsk, n.onAsk)
	n.messages.Handle(kindFormat, n.members.onFormat)
	n.control.replica.Offer(n.host.mux)
	n.snapshots.handle()
	remote.Serve(n.messages, remote.ServerOptions{Lookup: n.host.routing.owned, Wait: n.Wait})
}

func (o *Options) defaults() {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Shards == 0 {
		o.Shards = DefaultShards
	}
	if o.ReplaceAfter == 0 {
		o.ReplaceAfter = DefaultReplaceAfter
	}
	if o.Failover == 0 {
		o.Failover = DefaultFailover
	}
	if o.Reads == 0 {
		o.Reads = formats.Newest
	}
	o.Logs.defaults()
	if o.Cipher == nil {
		o.Cipher = func() queue.Cipher { return nil }
	}
	if o.Low == nil {
		o.Low = func() bool { return false }
	}
	if o.Answers == nil {
		o.Answers = func() bool { return true }
	}
	if o.Waiting == nil {
		o.Waiting = func(string) {}
	}
	if o.Tell == nil {
		o.Tell = func() json.RawMessage { return nil }
	}
	if o.Hear == nil {
		o.Hear = func(string, json.RawMessage) {}
	}
	if o.Endpoint == nil {
		o.Endpoint = func() string { return "" }
	}
}

// Founded waits until the cluster exists and this node knows every decision made before the call.
func (n *Node) Founded(ctx context.Context) error {
	defer close(n.founded)
	for {
		changed := n.records.watch()
		again := time.Hour
		if n.records.count() > 0 {
			err := n.CatchUp(ctx)
			if err == nil && n.records.removed(n.id) {
				n.members.sendHeartbeats() // see there
				n.fail(n.errRemoved())
				return n.Err()
			}
			if err == nil {
				return nil
			}
			n.log.Debug("the control shard is not known to the end of its log", "error", err)
			again = time.Second
		}
		select {
		case <-changed:
		case <-time.After(again):
		case <-n.failure.happened:
			return n.Err()
		case <-ctx.Done():
			return fmt.Errorf("stopped before the cluster was complete: %w", context.Cause(ctx))
		}
	}
}

// Close leaves the cluster, after handing over everything that this node owns.
func (n *Node) Close(ctx context.Context) error {
	n.leaving.Store(true)
	n.host.handOvers.leave(ctx)
	n.cancel()
	if n.router != nil {
		n.router.Close()
	}
	n.tasks.wait()
	if n.engine == nil {
		return nil
	}
	if err := n.engine.Close(); err != nil {
		return fmt.Errorf("leave the cluster: %w", err)
	}
	return nil
}

// Failed returns a channel that is closed when the node cannot continue. Err then returns the reason.
func (n *Node) Failed() <-chan struct{} { return n.failure.happened }

// Err returns why the node cannot continue, or nil.
func (n *Node) Err() error { return n.failure.get() }

// Control returns the control store. The node that owns the control shard changes it, and the others follow.
func (n *Node) Control() *control.Control { return n.control.store }

// CatchUp waits until this node has applied everything that was in the control shard's log at the time of the call.
func (n *Node) CatchUp(ctx context.Context) error { return n.barrier.catchUp(ctx) }

// CatchUpPause is the minimum time between two calls of CatchUp for unverified callers, because each call reads the
// control shard's log.
func (n *Node) CatchUpPause() time.Duration { return unverifiedPause }

// SharesKeys reports that the keys of the installation are in the control store.
func (n *Node) SharesKeys() bool { return true }

// Current returns ErrCutOff if this node's knowledge of queues and users may be out of date.
func (n *Node) Current() error { return n.barrier.current() }

// Position returns how far this node has applied the control shard's log.
func (n *Node) Position() uint64 { return uint64(n.control.replica.Position()) }

// Wait waits until this node has applied the control shard's log up to a position, and its shards know the changes.
func (n *Node) Wait(ctx context.Context, position uint64) error {
	return n.control.replica.Wait(ctx, sharedlog.Position(position))
}

// Drain sets whether a node must keep no shards, because it will be stopped for long or removed. Call it where the
// control shard is owned. The errors are status.ErrNoNode and status.ErrNotDrained.
func (n *Node) Drain(ctx context.Context, name string, drain bool) error {
	return n.director.drain(ctx, name, drain)
}

// Remove removes a node from the cluster for good. Call it where the control shard is owned. The errors are
// status.ErrNoNode and status.ErrAlive.
func (n *Node) Remove(ctx context.Context, name string) error { return n.director.remove(ctx, name) }

// Reclaim starts to free the space of deleted data. See store.Reclaim.
func (n *Node) Reclaim() error { return n.host.reclaim() }

// Snapshot writes the contents of a data directory to dir: the stores of all shards and the control store. It returns
// the number of shards with messages.
func (n *Node) Snapshot(ctx context.Context, dir string) (int, error) {
	return n.snapshots.make(ctx, dir)
}
