package router

import (
	"context"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/queue"
)

// Shard is a shard, wherever its owner is.
type Shard = remote.Shard

// defaultPatience is how long a call waits for a shard to have an owner. It is
// well below the time after which clients give up, and above what a planned
// change of the owner takes.
const defaultTimeout = 2500 * time.Millisecond

// Options are what a Router is made of.
type Options struct {
	// Queue returns where a queue is, or false if there is no such queue.
	Queue func(queue.ID) (Placement, bool)
	// Shard returns shard n as it is reached at its present owner: itself, if that
	// is this node, and it then knows of all queues that Queue does. An error says
	// why there is nobody to be asked.
	Shard func(n int) (Shard, error)
	// Changed returns a channel that is closed when shard n has another owner,
	// or one at last, than at the time of the call: the same one until then.
	Changed func(n int) <-chan struct{}
	// Local reports whether this node is the owner of shard n. A nil Local says
	// that it never is; it is a matter of speed only.
	Local func(n int) bool
	// Patience is how long a call waits for a shard that has no owner; 0 means
	// 2.5 s.
	Timeout time.Duration
}

// Router gives calls to the shards of their queues. Its methods may be called
// from any goroutine.
type Router struct {
	Options

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
	if o.Local == nil {
		o.Local = func(int) bool { return false }
	}
	r := &Router{Options: o, terms: make(map[int]*ownerTerm)}
	r.draining, r.drain = context.WithCancel(context.Background())
	r.closed, r.close = context.WithCancel(context.Background())
	return r
}

// Drain ends the long polls with an empty answer; from now on none waits.
func (r *Router) Drain() { r.drain() }

// Close is Drain, for when there will be no more calls.
func (r *Router) Close() {
	r.drain()
	r.close()
}

// place returns where a queue is.
func (r *Router) place(id queue.ID) (Placement, error) {
	p, ok := r.Queue(id)
	if !ok || len(p.Shards) == 0 || len(p.Sends) == 0 {
		return p, queue.ErrNoQueue
	}
	return p, nil
}
