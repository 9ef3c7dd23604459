package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/tool/fairshare"
	"github.com/sluicemq/sluice/internal/tool/wait"
)

// Source is a shard with the internal queues of subscriptions; see shard.Shard.
type Source interface {
	Ready(ctx context.Context) ([]queue.ID, error)
	Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]shard.Message, error)
	Settle(ctx context.Context, id queue.ID, receipts []queue.Receipt, count *queue.TopicCount) ([]error, error)
	ChangeVisibility(ctx context.Context, id queue.ID, changes []queue.Visibility) ([]error, error)
	Return(ctx context.Context, id queue.ID, deliveries []queue.Delivery, attempt string) error
}

const (
	// visibilityMargin is how much longer a message is invisible than its delivery may take. If the server is killed
	// meanwhile, the delivery is repeated after that.
	visibilityMargin = 15 * time.Second
	// atOnce is how many messages an endpoint receives at the same time if it accepts them.
	atOnce = 8
	// fastPlaces and slowPlaces limit how many subscriptions are served at the same time: those whose endpoint has
	// accepted the last messages within slowAfter, and the others. The package comment explains how the places are
	// shared.
	fastPlaces = 128
	slowPlaces = 1024
	slowAfter  = time.Second
	// Limits of the pause between failing calls of a shard. Each pause is twice as long as the one before.
	shortestPause = 100 * time.Millisecond
	longestPause  = 15 * time.Second
	// keepPause is how long a message stays invisible if its dead-letter queue is unavailable.
	keepPause = time.Minute
	// returnTimeout is how long a shard may take to settle messages, even when it is about to move.
	returnTimeout = 3 * time.Second
)

// Options configures a Deliverer.
type Options struct {
	// Find returns the current state of the subscription that a queue belongs to.
	Find func(queue.ID) (Target, bool)
	// Senders holds the senders by protocol.
	Senders    map[string]Sender
	DeadLetter DeadLetter
	// Counting reports whether the outcomes of messages are counted in their topics, with their deletion. A nil
	// Counting means that they are not.
	Counting func() bool
	Now      func() time.Time
	Log      *slog.Logger
}

// Deliverer delivers messages. Its methods are safe for concurrent use.
type Deliverer struct {
	Options
	wait       func(_ context.Context, until time.Time) bool // by Options.Now; tests replace it
	fast, slow *fairshare.Places
	counters   counters
	sending    atomic.Int64
}

// New returns a deliverer.
func New(o Options) *Deliverer {
	if o.Counting == nil {
		o.Counting = func() bool { return false }
	}
	return &Deliverer{
		Options: o,
		wait:    func(ctx context.Context, until time.Time) bool { return wait.For(ctx, until.Sub(o.Now())) == nil },
		fast:    fairshare.New(fairshare.Options{Places: fastPlaces, Reserve: true}),
		slow:    fairshare.New(fairshare.Options{Places: slowPlaces, Reserve: true}),
	}
}

// Check returns an error for people if an endpoint cannot receive messages.
func (d *Deliverer) Check(protocol, endpoint string) error {
	s := d.Senders[protocol]
	if s == nil {
		return errors.New("this server does not deliver by " + protocol)
	}
	return s.Check(protocol, endpoint)
}

// Counts returns the number of attempts, by protocol and outcome.
func (d *Deliverer) Counts() []Count { return d.counters.all() }

// Sending returns the number of deliveries in progress.
func (d *Deliverer) Sending() int64 { return d.sending.Load() }

// Run delivers the messages in the queues of a shard until ctx ends or the shard is closed. It does not use the shard
// after it has returned.
func (d *Deliverer) Run(ctx context.Context, s Source) error {
	r := &run{Deliverer: d, source: s, workers: make(map[queue.ID]*worker)}
	defer r.running.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for {
		ids, err := s.Ready(ctx)
		if err != nil {
			return err
		}
		for _, id := range ids {
			r.start(ctx, id)
		}
	}
}

// run is the delivery from one shard.
type run struct {
	*Deliverer
	source  Source
	running sync.WaitGroup

	mu      sync.Mutex
	workers map[queue.ID]*worker
}

// start starts delivering the messages of a queue, unless a worker does so already.
func (r *run) start(ctx context.Context, id queue.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	w := r.workers[id]
	switch {
	case w == nil:
		w = &worker{run: r, id: id}
		r.workers[id] = w
	case w.runs:
		w.again = true
		return
	}
	w.runs = true
	r.running.Go(func() {
		for w.drain(ctx); !r.end(ctx, w); w.drain(ctx) {
		}
	})
}

// end reports whether a worker has no more work. It forgets the worker, unless the worker must remember when the
// endpoint may receive the next message.
func (r *run) end(ctx context.Context, w *worker) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.again && ctx.Err() == nil {
		w.again = false
		return false
	}
	w.runs = false
	if !r.Now().Before(w.next) {
		delete(r.workers, w.id)
	}
	return true
}
