package router

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/queue"
)

// Shard is a shard, wherever its owner is.
type Shard = remote.Shard

// defaultTimeout is how long a call waits for a shard to have an owner. It is
// well below the time after which clients give up, and above what a planned
// change of the owner takes.
const defaultTimeout = 2500 * time.Millisecond

// Options are what a Router is made of.
type Options struct {
	// Queue returns where a queue is, or false if there is no such queue.
	Queue func(queue.ID) (Placement, bool)
	// Owner returns the present owner of shard n: the shard itself if this node owns
	// it, and it then knows of all queues that Queue does, or else the name of the
	// node that owns it. An error says why no node can be asked.
	Owner func(n int) (here Shard, node string, err error)
	// Changed returns a channel that is closed when shard n gets another owner, or
	// an owner at last, than at the time of the call; until then the same channel.
	Changed func(n int) <-chan struct{}
	// Shards returns how many shards there are, which have the numbers from 1 on.
	Shards func() int
	// Local reports whether this node is the owner of shard n. It only saves time.
	Local func(n int) bool
	// Messenger and Position are for the calls to other nodes; see remote.Options.
	Messenger messenger.Messenger
	Position  func() uint64
	// Timeout is how long a call waits for a shard that has no owner; 0 means
	// 2.5 s.
	Timeout time.Duration
	// CallTimeout is how long another node may take for a call; 0 means 10 s.
	CallTimeout time.Duration
}

// Router gives calls to the shards of their queues. Its methods may be called
// from any goroutine.
type Router struct {
	Options

	remote *remote.Caller
	empty  emptyReceives

	draining context.Context // ends the long polls
	drain    context.CancelFunc
	closed   context.Context
	close    context.CancelFunc

	mu    sync.Mutex
	terms map[int]*ownerTerm
}

// New returns a Router. Close ends it.
func New(o Options) *Router {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	r := &Router{Options: o, terms: make(map[int]*ownerTerm)}
	r.remote = remote.New(remote.Options{
		Messenger: o.Messenger, Position: o.Position, Timeout: o.CallTimeout, Return: r.returnTo,
	})
	r.draining, r.drain = context.WithCancel(context.Background())
	r.closed, r.close = context.WithCancel(context.Background())
	return r
}

// Drain ends the long polls with an empty answer; from now on no poll waits.
func (r *Router) Drain() { r.drain() }

// Close is Drain, for when there will be no more calls.
func (r *Router) Close() {
	r.drain()
	r.close()
}

// shard returns shard n as it is reached at its present owner.
func (r *Router) shard(n int) (Shard, error) {
	here, node, err := r.Owner(n)
	if here != nil || err != nil {
		return here, err
	}
	return r.remote.Shard(node, n), nil
}

// place returns where a queue is.
func (r *Router) place(id queue.ID) (Placement, error) {
	p, ok := r.Queue(id)
	if !ok || len(p.Shards) == 0 || len(p.Sends) == 0 {
		return p, queue.ErrNoQueue
	}
	return p, nil
}
