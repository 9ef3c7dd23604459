package delivery

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/fairshare"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
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
	// visibilityMargin is how much longer a message is invisible while it is delivered than that may take. If the
	// server is killed meanwhile, the delivery is made again after that.
	visibilityMargin = 15 * time.Second
	// atOnce is how many messages an endpoint gets at a time that takes them.
	atOnce = 8
	// fastPlaces and slowPlaces bound how many subscriptions are served at a time: those whose endpoint has taken the
	// last messages within slowAfter, and the others. See the package comment for who gets the places.
	fastPlaces = 128
	slowPlaces = 1024
	slowAfter  = time.Second
	// Between calls of a shard that fail there is a pause, each twice as long as the one before.
	shortestPause = 100 * time.Millisecond
	longestPause  = 15 * time.Second
	// keepPause is how long a message stays invisible whose dead-letter queue cannot be reached.
	keepPause = time.Minute
	// returnTimeout is how long a shard may take to take back what is not delivered because the shard moves.
	returnTimeout = 3 * time.Second
)

// Options are what a Deliverer is made of.
type Options struct {
	// Find returns the subscription that a queue belongs to, as it is now.
	Find func(queue.ID) (Target, bool)
	// Senders are the protocols.
	Senders    map[string]Sender
	DeadLetter DeadLetter
	// Counting reports whether what becomes of messages is counted in their topics, with their deletion. A nil Counting
	// means that it is not.
	Counting func() bool
	Now      func() time.Time
	Log      *slog.Logger
}

// Deliverer delivers messages. Its methods may be called from any goroutine.
type Deliverer struct {
	Options
	wait       func(_ context.Context, until time.Time) bool // by the clock of a test, in tests
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
		wait:    func(ctx context.Context, until time.Time) bool { return wait(ctx, until.Sub(o.Now())) },
		fast:    fairshare.New(fairshare.Options{Places: fastPlaces, Reserve: true}),
		slow:    fairshare.New(fairshare.Options{Places: slowPlaces, Reserve: true}),
	}
}

// Check returns an error for people if nothing can be delivered to an endpoint.
func (d *Deliverer) Check(protocol, endpoint string) error {
	s := d.Senders[protocol]
	if s == nil {
		return errors.New("this server does not deliver by " + protocol + "; it sends mail if it is started with --smtp-server")
	}
	return s.Check(protocol, endpoint)
}

// Counts returns how many attempts there were, by protocol and outcome.
func (d *Deliverer) Counts() []Count { return d.counters.all() }

// Sending returns how many deliveries are under way.
func (d *Deliverer) Sending() int64 { return d.sending.Load() }

// Run delivers what is in the queues of a shard until ctx ends or the shard is closed. When it returns it does not use
// the shard any more.
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

// start has the messages of a queue delivered, if that is not done already.
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

// end reports whether a worker has nothing more to do. It forgets the worker, unless that has to remember when the
// endpoint may get the next message.
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

// wait waits for d, and reports whether ctx has not cut that short.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
