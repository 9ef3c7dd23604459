package cluster

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/store"
)

func (n *Node) shardDir(name string) string { return filepath.Join(n.o.Dir, datadir.ShardsDir, name) }

// DefaultShards is how many shards with messages a new cluster has.
const DefaultShards = 6

// MaxShards is how many it may have: a shard's number is part of positions.
const MaxShards = 64

// Options are what a node is made of.
type Options struct {
	Name    string // of the node
	Cluster string // its name
	Peers   []Peer // who is there at the beginning, this node among them
	Dir     string // the data directory
	Shards  int    // of a cluster that does not exist yet; 0 means DefaultShards
	Spread  int    // shards of a queue that does not say how many; 0 means one
	// Engine starts or connects to the engine. server is a name for this node
	// that it has as long as it has its data.
	Engine func(ctx context.Context, server string) (Engine, error)
	// Found puts into the control store what must be the same on all nodes, unless
	// it is there. It is called on the node that owns the control shard, and before
	// anybody takes the cluster for founded.
	Found func(*control.Control) error
	// Forward answers requests that other nodes have forwarded to the owner of the
	// control shard.
	Forward  func(ctx context.Context, request []byte) ([]byte, error)
	Disk     *store.Disk
	Cache    *store.Cache
	Endpoint func() string // where clients reach this node
	Low      func() bool   // whether its disk is nearly full
	Version  string
	// Waiting is told what a node that has not found its cluster yet waits for; nil
	// is for those who do not want to know.
	Waiting func(what string)
	// Certificate returns the certificate by which the other nodes know this one; nil is
	// for one that has none that ends.
	Certificate func() (*x509.Certificate, error)
	// ReplaceAfter is how long a node may be away before its replicas are given to
	// others; 0 means DefaultReplaceAfter.
	ReplaceAfter time.Duration
	// Shift is added to what the machine's clock says, for trying what a wrong one
	// does; nil means nothing.
	Shift  func() time.Duration
	Logger *slog.Logger // nil discards
}

// DefaultReplaceAfter is longer than a machine needs to start anew.
const DefaultReplaceAfter = 10 * time.Minute

// Node is this node of the cluster. Its methods may be called from any goroutine.
type Node struct {
	o        Options
	log      *slog.Logger
	id       incarnation
	engine   Engine
	leases   *leaseList
	messages messenger.Messenger
	desk     *desk
	ttl      time.Duration

	clocks  *clocks
	view    *view
	records *records

	router *router.Router

	control    *control.Control
	controlLog sharedlog.Log
	replica    *replica.Replica // of the control shard
	vigil      *vigil           // over it
	tail       joint
	caughtUp   atomic.Int64 // Unix nanoseconds of when the control shard's log was last known to be applied to its end

	ctx     context.Context // ends when the node closes
	cancel  context.CancelFunc
	tasks   tasks
	leaving atomic.Bool
	claimed atomic.Bool // the directory has become a node's since this process began
	// forwarding is where messages for other shards go through.
	forwarding *gate
	heirs      sync.Map      // by the name of a shard that is being handed over, to whom
	reign      atomic.Uint64 // the epoch in which this node owns the control shard, or 0
	// Something has changed that the manager, or the director, should see.
	manager, director chan struct{}

	returned returned // servers that were removed and have come back

	handOvers, lost atomic.Int64 // ownerships that have ended, see ended
	copies          copyCounts   // of the logs of what this node owns

	mu      sync.Mutex
	catalog *catalog.Catalog // nil until the node serves
	locals  map[string]*local
	feeds   map[*feed]bool
	founded chan struct{} // closed when Founded returns
	failed  error         // why the node cannot go on
	failure chan struct{}
}

// Join makes this process a node of the cluster. It returns when the node follows
// the control shard; see Ready for when it knows all that others do.
func Join(ctx context.Context, o Options) (_ *Node, err error) {
	o.defaults()
	id, isNew, err := openIncarnation(o.Dir, o.Cluster, o.Name)
	if err != nil {
		return nil, fmt.Errorf("join the cluster: %w", err)
	}
	n := &Node{
		o: o, log: o.Logger, id: id, clocks: newClocks(time.Now, o.Shift), view: newView(), records: newRecords(),
		forwarding: newGate(), manager: make(chan struct{}, 1), director: make(chan struct{}, 1),
		locals: make(map[string]*local), feeds: make(map[*feed]bool), failure: make(chan struct{}),
		founded: make(chan struct{}),
	}
	n.ctx, n.cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("join the cluster: %w", err), n.Close(ctx))
		}
	}()
	engine, err := o.Engine(ctx, id.server())
	if err != nil {
		return nil, err
	}
	n.engine = engine
	n.tasks.start(n.reportWaiting)
	n.messages = n.engine.Messenger()
	n.desk = &desk{Messenger: n.messages, handlers: make(map[string]messenger.Handler)}
	leases, err := n.engine.Leases(ctx)
	if err != nil {
		return nil, err
	}
	n.leases = newLeaseList(leases)
	n.ttl = n.leases.TTL()
	if n.controlLog, err = n.engine.Log(ctx, controlShard); err != nil {
		return nil, err
	}
	if err := n.alone(ctx); err != nil {
		return nil, err
	}
	// From here on what the cluster has decided gets into the stores.
	if isNew {
		if err := claimDirectory(o.Dir); err != nil {
			return nil, err
		}
		n.claimed.Store(true)
	}
	if err := n.openControl(ctx); err != nil {
		return nil, err
	}
	n.router = router.New(router.Options{
		Queue: n.placement, Owner: n.owner, Local: n.owns, Messenger: n.messages, Position: n.Position,
		Changed: func(number int) <-chan struct{} { return n.view.watch(shardName(number)) },
	})
	n.handle()
	for _, f := range []func(){n.beat, n.look, n.keepUp, n.manage, n.direct, n.trim, n.countCopies, n.watchCertificate} {
		n.tasks.start(f)
	}
	return n, nil
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
	if o.Low == nil {
		o.Low = func() bool { return false }
	}
	if o.Waiting == nil {
		o.Waiting = func(string) {}
	}
	if o.Endpoint == nil {
		o.Endpoint = func() string { return "" }
	}
}

// openControl begins to follow the control shard.
func (n *Node) openControl(ctx context.Context) error {
	host := &controlHost{Node: n, loaded: make(chan struct{})}
	n.replica = replica.New(replica.Options{
		Name: controlShard, Node: n.o.Name, Dir: filepath.Join(n.o.Dir, datadir.ControlDir), Storage: n.storage(),
		Log: n.controlLog, Leases: n.leases, Logger: n.log, Host: host,
	})
	n.vigil = newVigil(n.o.Disk, n.replica.Stalled, fmt.Errorf("%w: %w", control.ErrUnavailable, errSilent))
	n.tasks.start(func() { n.vigil.keep(n.ctx) })
	n.tasks.start(func() {
		if err := n.replica.Run(n.ctx); err != nil {
			n.fail(n.explain(err))
		}
	})
	select {
	case <-host.loaded:
		return nil
	case <-n.failure:
		return n.Err()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// storage is what the stores of the replicas may use.
func (n *Node) storage() store.Options {
	return store.Options{Disk: n.o.Disk, Cache: n.o.Cache, Logger: n.log}
}

// controlHost implements replica.Host for the control shard, of which every node keeps all in memory.
type controlHost struct {
	*Node
	loaded chan struct{} // closed when there is n.control
}

// Loaded implements replica.Host.
func (h *controlHost) Loaded(s *store.Store) error {
	if h.control != nil {
		return h.control.Reload(s)
	}
	c := control.New(control.Options{Store: s, Follow: true, Writable: h.vigil.condition})
	if err := c.Register(KeyPrefix, h.records); err != nil {
		return err
	}
	h.control = c
	close(h.loaded)
	return nil
}

// Applied implements replica.Host.
func (h *controlHost) Applied(batch []byte, _ sharedlog.Position) {
	if err := h.control.Apply(batch); err != nil {
		h.fail(err)
	}
}

// Prepare implements replica.Host. The control shard depends on no other.
func (h *controlHost) Prepare(context.Context) error { return nil }

// Claimed implements replica.Host.
func (h *controlHost) Claimed(context.Context) error { return nil }

// Fetch implements replica.Host.
func (h *controlHost) Fetch(ctx context.Context, in *store.Incoming) error {
	return h.fetch(controlShard)(ctx, in)
}

// Serve implements replica.Host: from now on changes of the control store are made on this node.
func (h *controlHost) Serve(o *replica.Ownership) (stop func(), err error) {
	n := h.Node
	end := n.control.Own(func(tx *store.Txn) error {
		err := o.Commit(tx)
		if errors.Is(err, replica.ErrDeposed) {
			return fmt.Errorf("%w: %w", control.ErrUnavailable, err)
		}
		return err
	})
	ctx, cancel := context.WithCancel(n.ctx)
	n.tasks.start(func() { n.lead(ctx, n.controlLog) })
	n.reign.Store(o.Epoch())
	n.announce(controlShard, replica.Holder{Node: n.o.Name, Epoch: o.Epoch()})
	n.wake()
	return func() {
		n.ended(o)
		n.reign.Store(0)
		cancel()
		end()
		n.leadForHeir(controlShard, n.controlLog)
	}, nil
}

// explain says more of why the control shard's replica has stopped, if it is
// something that people do.
func (n *Node) explain(err error) error {
	if errors.Is(err, replica.ErrDiverged) {
		if n.claimed.Load() && bears(n.replica.Status()) { // nothing of the cluster's has got into it
			err = errors.Join(err, releaseDirectory(n.o.Dir))
		}
		err = fmt.Errorf("%w; the data directory %s holds data that are not this cluster's, such as those of a single machine: start this node with an empty one", err, n.o.Dir)
	}
	return fmt.Errorf("the control shard: %w", err)
}

// ended counts an ownership that ends, before what served the shard is stopped.
func (n *Node) ended(o *replica.Ownership) {
	select {
	case <-o.Ended():
		n.lost.Add(1)
	default: // it still can commit
		n.handOvers.Add(1)
	}
}

// Control returns the control store. It is changed on the node that owns its
// shard and followed by the others.
func (n *Node) Control() *control.Control { return n.control }

// owns reports whether this node owns a shard.
func (n *Node) owns(number int) bool {
	l := n.local(shardName(number))
	return l != nil && l.serving.Load() != nil
}

// Failed returns a channel that is closed when the node cannot go on; Err then
// says why.
func (n *Node) Failed() <-chan struct{} { return n.failure }

// Err returns why the node cannot go on, or nil.
func (n *Node) Err() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.failed
}

func (n *Node) fail(err error) {
	if err == nil || n.ctx.Err() != nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.failed == nil {
		n.failed = err
		close(n.failure)
	}
}

// wake has the manager and the director look at once.
func (n *Node) wake() {
	for _, c := range []chan struct{}{n.manager, n.director} {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// Founded waits until the cluster exists and this node knows all that was decided
// in it before the call.
func (n *Node) Founded(ctx context.Context) error {
	defer close(n.founded)
	for {
		changed := n.records.watch()
		again := time.Hour
		if n.records.count() > 0 {
			err := n.CatchUp(ctx)
			if err == nil && n.records.removed(n.id) {
				n.tellAll() // see there
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
		case <-n.failure:
			return n.Err()
		case <-ctx.Done():
			return fmt.Errorf("stopped before the cluster was complete: %w", context.Cause(ctx))
		}
	}
}

// CatchUp waits until this node has applied all that was in the control shard's
// log when it was called.
func (n *Node) CatchUp(ctx context.Context) error {
	return n.tail.do(ctx, func() error {
		ctx, cancel := context.WithTimeout(n.ctx, catchUpTimeout)
		defer cancel()
		began := time.Now()
		_, extent, err := n.controlLog.Read(ctx, n.replica.Position()+1)
		if err != nil && !errors.Is(err, sharedlog.ErrTrimmed) {
			return fmt.Errorf("the control shard's log cannot be read: %w", err)
		}
		if err := n.replica.Wait(ctx, extent.Last); err != nil {
			return fmt.Errorf("the control shard is behind its log: %w", err)
		}
		n.caughtUp.Store(began.UnixNano())
		return nil
	})
}

const catchUpTimeout = 5 * time.Second

// Position returns how much of the control shard's log this node has applied.
func (n *Node) Position() uint64 { return uint64(n.replica.Position()) }

// Wait waits until this node has applied the control shard's log up to a position
// and its shards have learnt of it.
func (n *Node) Wait(ctx context.Context, position uint64) error {
	return n.replica.Wait(ctx, sharedlog.Position(position))
}
