package router

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/queue"
)

// Shard is a shard at its owner, on any node.
type Shard = remote.Shard

// defaultTimeout is how long a call waits for a shard to have an owner. It is well below the time after which clients
// give up, and above the duration of a planned change of the owner.
const defaultTimeout = 2500 * time.Millisecond

// Options configures a Router.
type Options struct {
	// Queue returns the placement of a queue, or false if there is no such queue.
	Queue func(queue.ID) (Placement, bool)
	// Owner returns the current owner of shard n: the shard itself if this node owns it, and it then knows of all
	// queues that Queue knows, or else the name of the node that owns it. An error explains why no node can serve the
	// shard.
	Owner func(n int) (here Shard, node string, err error)
	// Changed returns a channel that is closed when shard n has another owner than at the time of the call. Until then
	// it returns the same channel.
	Changed func(n int) <-chan struct{}
	// Shards returns the number of shards. Their numbers start at 1.
	Shards func() int
	// Local reports whether this node owns shard n. It is an optimization only.
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

// Router passes calls to the shards of their queues. Its methods are safe for concurrent use.
type Router struct {
	*owners
	empty emptyReceives

	receiver *receiver
	close    context.CancelFunc
}

// New returns a Router. Close ends it.
func New(o Options) *Router {
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	r := &Router{owners: &owners{Options: o, terms: make(map[int]*ownerTerm)}}
	r.remote = remote.New(remote.Options{
		Messenger: o.Messenger, Position: o.Position, Timeout: o.CallTimeout, Return: r.returnTo,
	})
	r.receiver = newReceiver(r.owners, r.returnMessages)
	r.closed, r.close = context.WithCancel(context.Background())
	r.empty = emptyReceives{owners: r.owners, place: r.place}
	return r
}

// Drain ends the long polls with an empty answer. From now on no poll waits.
func (r *Router) Drain() { r.receiver.drain() }

// Close is Drain, for when no more calls will follow.
func (r *Router) Close() {
	r.Drain()
	r.close()
}

// place returns the placement of a queue.
func (r *Router) place(id queue.ID) (Placement, error) {
	p, ok := r.Queue(id)
	if !ok || len(p.Shards) == 0 || len(p.Sends) == 0 {
		return p, queue.ErrNoQueue
	}
	return p, nil
}
