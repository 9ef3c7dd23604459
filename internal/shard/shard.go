package shard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// ErrUnavailable says that the shard could not do what was asked because its
// store failed or it is closed. Whether a change was made is then unknown.
var ErrUnavailable = errors.New("the shard is not available")

// What is known of the disk that a shard is on, for those who know the shard and
// not its store.
type (
	Condition  = store.Condition
	StuckError = store.StuckError
)

const (
	// requestsAtOnce and bytesAtOnce bound one commit. Larger ones would only
	// take longer and more memory.
	requestsAtOnce = 1024
	bytesAtOnce    = 4 << 20
	// reloadInterval is the pause between attempts to come back after the store
	// failed.
	reloadInterval = time.Second
)

// Options are what a shard is made of.
type Options struct {
	Store *store.Store
	// Configs returns the queues of this shard, when it is opened and whenever
	// it has to be loaded again.
	Configs func() []queue.Config
	Logger  *slog.Logger // nil discards
	// Now is the machine's clock; nil means time.Now.
	Now func() time.Time
	// Commit makes a transaction durable; nil means Store.Commit. This is
	// where a replicated log comes in: Txn.Bytes is all it has to carry.
	Commit func(*store.Txn) error
}

// Shard is a keyspace with its queues. Its methods may be called from any
// goroutine.
type Shard struct {
	store  *store.Store
	disk   *store.Disk
	commit func(*store.Txn) error
	log    *slog.Logger
	clock  *clock

	requests chan *request
	closing  chan struct{}
	closed   chan struct{}
	once     sync.Once
	draining atomic.Bool // long polls do not wait any more

	// What follows belongs to the owner goroutine.
	engine  *queue.Engine // nil while it has lost touch with the store
	configs func() []queue.Config
	polls   polls
	reload  time.Time
}

// request is something to be done by the owner. run stores its results where
// its caller finds them once done is closed.
type request struct {
	run  func(*queue.Engine) error
	poll *poll // the long poll that the request becomes if it finds nothing
	err  error
	done chan struct{}
	// begun is set by the owner when it begins with the request, or by a caller
	// who goes before that and bars the owner.
	begun atomic.Bool
}

func newRequest(run func(*queue.Engine) error) *request {
	return &request{run: run, done: make(chan struct{})}
}

func (r *request) begin() bool { return r.begun.CompareAndSwap(false, true) }

// Open loads the queues of a shard and starts to serve them.
func Open(o Options) (*Shard, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Commit == nil {
		o.Commit = o.Store.Commit
	}
	s := &Shard{
		store: o.Store, disk: o.Store.Disk(), commit: o.Commit, log: o.Logger,
		requests: make(chan *request, requestsAtOnce),
		closing:  make(chan struct{}), closed: make(chan struct{}),
		configs: o.Configs, polls: newPolls(),
	}
	s.clock = newClock(o.Now, 0)
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	s.clock = newClock(o.Now, s.engine.Now())
	go s.own()
	return s, nil
}

// load builds the engine from what is durable.
func (s *Shard) load() error {
	tx := s.store.Begin()
	defer tx.Release()
	engine, err := queue.Load(tx, s.clock.time(), s.configs())
	if err != nil {
		return err
	}
	if !tx.Empty() {
		if err := s.commit(tx); err != nil {
			return err
		}
	}
	s.engine = engine
	return nil
}

// Condition returns the present condition of the disk that the shard is on.
func (s *Shard) Condition() *Condition { return s.disk.Condition() }

// Drain ends the long polls with an empty answer; from now on none waits.
func (s *Shard) Drain() {
	s.draining.Store(true)
	s.post(newRequest(func(*queue.Engine) error { return nil }))
}

// Close finishes what has been asked for and stops the shard. The store stays
// open. If the disk is stuck it is given up; the store's Close will say so.
func (s *Shard) Close() {
	s.draining.Store(true)
	s.once.Do(func() { close(s.closing) })
	_ = s.disk.Guard(func() error { <-s.closed; return nil })
}

// ask runs f as the owner and waits until its effect is durable. The wait is not
// cut short by ctx once the request is on its way: whoever asked for a change
// must learn whether it was made. It is cut short by a disk that gets stuck,
// because nobody knows for how long it will be.
func ask[T any](ctx context.Context, s *Shard, f func(*queue.Engine) (T, error)) (T, error) {
	var got, none T
	r := newRequest(func(e *queue.Engine) (err error) {
		got, err = f(e)
		return err
	})
	if err := s.await(ctx, s.Condition(), r); err != nil {
		return none, err // and not got: the owner may be about to set it
	}
	return got, r.err
}

// do is ask for what has no result.
func (s *Shard) do(ctx context.Context, f func(*queue.Engine) error) error {
	_, err := ask(ctx, s, func(e *queue.Engine) (struct{}, error) { return struct{}{}, f(e) })
	return err
}

// insist is do for what has to be done sooner or later: it waits for a disk that
// is stuck.
func (s *Shard) insist(ctx context.Context, f func(*queue.Engine) error) error {
	r := newRequest(f)
	if err := s.await(ctx, s.disk.Life(), r); err != nil {
		return err
	}
	return r.err
}

// await hands over r and waits until it has been answered, or returns why it does
// not wait any longer; the end of c is one of the reasons.
func (s *Shard) await(ctx context.Context, c *Condition, r *request) error {
	if c.Err() != nil {
		return unavailable(c)
	}
	select {
	case s.requests <- r:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return ErrUnavailable
	case <-c.Stuck():
		return unavailable(c)
	}
	select {
	case <-r.done:
		return nil
	case <-s.closed:
		// It may have been answered in the last moment.
		select {
		case <-r.done:
			return nil
		default:
			return ErrUnavailable
		}
	case <-c.Stuck():
		r.begin() // so that the owner need not
		return unavailable(c)
	}
}

// unavailable is what those are told who do not wait for a stuck disk.
func unavailable(c *Condition) error { return fmt.Errorf("%w: %w", ErrUnavailable, c.Err()) }

// post hands over a request without waiting for it to be done.
func (s *Shard) post(r *request) {
	select {
	case s.requests <- r:
	case <-s.closed:
	case <-s.Condition().Stuck():
	}
}

// own is the owner goroutine.
func (s *Shard) own() {
	defer close(s.closed)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var first *request
		select {
		case first = <-s.requests:
		default:
			if s.engine == nil || !s.polls.pending() {
				timer.Reset(s.pause())
				select {
				case first = <-s.requests:
				case <-timer.C:
				case <-s.closing:
					s.finish()
					return
				}
			}
		}
		s.turn(first)
	}
}

// pause is how long nothing will happen unless somebody asks.
func (s *Shard) pause() time.Duration {
	const longest = time.Hour
	if s.engine == nil {
		return reloadInterval
	}
	now := s.clock.time()
	wake := s.engine.NextWake()
	if next, ok := s.polls.nextEnd(); ok {
		wake = min(wake, next)
	}
	if wake > now.Add(longest) {
		return longest
	}
	return max(0, wake.Sub(now))
}

// finish answers what is left when the shard is closed.
func (s *Shard) finish() {
	for {
		select {
		case r := <-s.requests:
			s.turn(r)
		default:
			s.polls.endAll()
			return
		}
	}
}

// turn is one transaction: what time has made due, what has been asked for, and
// the long polls that can now be answered.
func (s *Shard) turn(first *request) {
	if s.engine == nil && !s.recover() {
		if first != nil {
			first.answer(ErrUnavailable)
		}
		s.polls.end(s.clock.time(), s.draining.Load())
		return
	}
	tx := s.store.Begin()
	defer tx.Release()
	s.engine.Begin(tx, s.clock.time())

	var batch []*request
	err := s.engine.Advance()
	for r := first; r != nil && err == nil; {
		if !r.begin() {
			r = s.next()
			continue
		}
		batch = append(batch, r)
		if r.err = r.run(s.engine); r.err != nil && !queue.IsRefusal(r.err) {
			err = r.err
			break
		}
		if len(batch) == requestsAtOnce || tx.Size() > bytesAtOnce {
			break
		}
		r = s.next()
	}
	var served []*poll
	if err == nil {
		served, err = s.polls.serve(s.engine)
	}
	if err == nil {
		s.polls.touched(s.engine.End())
		if !tx.Empty() {
			err = s.commit(tx)
		}
	}
	if err != nil {
		s.fail(err, batch, served)
		return
	}
	for _, r := range batch {
		if r.poll != nil && r.poll.empty(r.err) {
			s.polls.add(r.poll)
			continue
		}
		r.answer(r.err)
	}
	for _, p := range served {
		p.answer(p.err)
	}
	s.polls.end(s.clock.time(), s.draining.Load())
}

// next returns a request that is there, or nil. Those who are about to ask get
// the chance to do so first: if the processors are busy, more requests share the
// commit; if they are idle, it takes no time.
func (s *Shard) next() *request {
	select {
	case r := <-s.requests:
		return r
	default:
	}
	runtime.Gosched()
	select {
	case r := <-s.requests:
		return r
	default:
		return nil
	}
}

// fail answers a transaction that could not be made durable and gives up the
// engine, which has gone ahead of the store.
func (s *Shard) fail(err error, batch []*request, served []*poll) {
	s.log.Error("shard transaction failed", "error", err, "requests", len(batch))
	s.engine = nil
	for _, r := range batch {
		r.answer(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	for _, p := range served {
		p.answer(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
}

// recover tries, every so often, to build the engine again.
func (s *Shard) recover() bool {
	if time.Now().Before(s.reload) {
		return false
	}
	s.reload = time.Now().Add(reloadInterval)
	if err := s.load(); err != nil {
		s.log.Error("shard cannot be loaded", "error", err)
		return false
	}
	s.polls.touchAll()
	s.log.Info("shard is back")
	return true
}

func (r *request) answer(err error) {
	if r.poll != nil {
		r.poll.answer(err)
		return
	}
	r.err = err
	close(r.done)
}
