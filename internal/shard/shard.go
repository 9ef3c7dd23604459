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

// ErrNotBegun is the ErrUnavailable of which it is certain that nothing was
// done: to ask again is safe, here or wherever the shard is open now.
var ErrNotBegun = fmt.Errorf("%w: nothing was done", ErrUnavailable)

// What is known of the disk that a shard is on, for those who know the shard and
// not its store.
type (
	Condition  = store.Condition
	StuckError = store.StuckError
)

// ErrDeposed says that the shard belongs to another node now. It is the error with
// which a commit ends a Shard for good.
var ErrDeposed = store.ErrDeposed

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
	// Shift returns what is to be added to what that says, because it is off; nil
	// means nothing. The pace of time it does not change.
	Shift func() time.Duration
	// Commit makes a transaction durable; nil means Store.Commit. This is
	// where a replicated log comes in: Txn.Bytes is all it has to carry.
	Commit func(*store.Txn) error
	// Confirm is asked before anybody is answered from what is in memory, when there
	// is nothing to commit; nil means that nobody else can have changed the shard. An
	// error of either that is ErrDeposed is the end: everybody is answered with it
	// from then on.
	Confirm func() error
	// Condition returns the present condition of what commits are made on; nil means
	// that of the disk. Callers do not wait for a commit when it is over.
	Condition func() *Condition
	// MaxCommit is the size in bytes at which a transaction takes no more
	// requests; 0 means 4 MiB.
	MaxCommit int
}

// Shard is a keyspace with its queues. Its methods may be called from any
// goroutine.
type Shard struct {
	store     *store.Store
	disk      *store.Disk
	commit    func(*store.Txn) error
	confirm   func() error
	condition func() *Condition
	maxCommit int
	log       *slog.Logger
	clock     *clock

	requests chan *request
	closing  chan struct{}
	closed   chan struct{}
	once     sync.Once
	reading  sync.RWMutex // held for reading while the store may be read
	draining atomic.Bool  // long polls do not wait any more

	readyOutboxes readyOutboxes

	// What follows belongs to the owner goroutine.
	engine  *queue.Engine // nil while it has lost touch with the store
	configs func() []queue.Config
	polls   polls
	reload  time.Time
	deposed error // to be read by others when closed is closed
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
	if o.Confirm == nil {
		o.Confirm = func() error { return nil }
	}
	if o.Condition == nil {
		o.Condition = o.Store.Disk().Condition
	}
	if o.MaxCommit == 0 {
		o.MaxCommit = bytesAtOnce
	}
	s := &Shard{
		store: o.Store, disk: o.Store.Disk(), commit: o.Commit, confirm: o.Confirm,
		condition: o.Condition, maxCommit: o.MaxCommit, log: o.Logger,
		requests: make(chan *request, requestsAtOnce),
		closing:  make(chan struct{}), closed: make(chan struct{}),
		configs: o.Configs, polls: newPolls(),
	}
	s.clock = newClock(o.Now, o.Shift, 0)
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	s.clock = newClock(o.Now, o.Shift, s.engine.Now())
	go s.loop()
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
	s.readyOutboxes.announce(engine.OutboxReady())
	return nil
}

// Condition returns the present condition of what the shard is on.
func (s *Shard) Condition() *Condition { return s.condition() }

// Drain ends the long polls with an empty answer; from now on none waits.
func (s *Shard) Drain() {
	s.draining.Store(true)
	s.send(newRequest(func(*queue.Engine) error { return nil }))
}

// Close finishes what has been asked for and stops the shard; the store stays
// open, and is not read any more. If the disk is stuck it is given up; the store's
// Close will say so.
func (s *Shard) Close() {
	s.draining.Store(true)
	s.once.Do(func() { close(s.closing) })
	_ = s.disk.Guard(func() error {
		<-s.closed
		s.reading.Lock()
		defer s.reading.Unlock()
		return nil
	})
}

// gone is what those are told who come when the shard has ended.
func (s *Shard) ended() error {
	if s.deposed != nil {
		return fmt.Errorf("%w: %w", ErrNotBegun, s.deposed)
	}
	return ErrNotBegun
}

// ask runs f as the owner and waits until its effect is durable. The wait is not
// cut short by ctx once the request is on its way: whoever asked for a change
// must learn whether it was made. It is cut short by a disk that gets stuck,
// because nobody knows for how long it will be.
func call[T any](ctx context.Context, s *Shard, f func(*queue.Engine) (T, error)) (T, error) {
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
func (s *Shard) exec(ctx context.Context, f func(*queue.Engine) error) error {
	_, err := call(ctx, s, func(e *queue.Engine) (struct{}, error) { return struct{}{}, f(e) })
	return err
}

// insist is do for what has to be done sooner or later: it waits for a disk that
// is stuck.
func (s *Shard) execEvenIfStuck(ctx context.Context, f func(*queue.Engine) error) error {
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
		return notBegun(c)
	}
	select {
	case s.requests <- r:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-s.closed:
		return s.ended()
	case <-c.Stuck():
		return notBegun(c)
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
		}
		if r.begin() { // it came too late for the owner
			return s.ended()
		}
		return ErrUnavailable
	case <-c.Stuck():
		if r.begin() { // so that the owner will not
			return notBegun(c)
		}
		return unavailable(c)
	}
}

// unavailable is what those are told who do not wait for a stuck disk, and
// notBegun if the owner has not begun with what they asked for.
func unavailable(c *Condition) error { return fmt.Errorf("%w: %w", ErrUnavailable, c.Err()) }
func notBegun(c *Condition) error    { return fmt.Errorf("%w: %w", ErrNotBegun, c.Err()) }

// post hands over a request without waiting for it to be done.
func (s *Shard) send(r *request) {
	select {
	case s.requests <- r:
	case <-s.closed:
	case <-s.Condition().Stuck():
	}
}

// own is the owner goroutine.
func (s *Shard) loop() {
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
		if s.commitBatch(first); s.deposed != nil {
			s.endDeposed()
			return
		}
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
			s.commitBatch(r)
		default:
			s.polls.endAll()
			return
		}
	}
}

// abandon answers what is left when the shard belongs to another node.
func (s *Shard) endDeposed() {
	s.log.Warn("shard belongs to another node", "error", s.deposed)
	s.polls.fail(s.ended())
	for {
		select {
		case r := <-s.requests:
			r.answer(s.ended())
		default:
			return
		}
	}
}

// turn is one transaction: what time has made due, what has been asked for, and
// the long polls that can now be answered.
func (s *Shard) commitBatch(first *request) {
	if s.engine == nil && !s.recover() {
		if first != nil {
			first.answer(ErrNotBegun)
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
		if len(batch) == requestsAtOnce || tx.Size() > s.maxCommit {
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
		if tx.Empty() {
			err = s.confirm()
		} else {
			err = s.commit(tx)
		}
	}
	if err != nil {
		s.fail(err, batch, served)
		return
	}
	s.readyOutboxes.announce(s.engine.OutboxReady())
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
	s.engine = nil
	if !s.isDeposed(err) {
		s.log.Error("shard transaction failed", "error", err, "requests", len(batch))
	}
	for _, r := range batch {
		r.answer(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	for _, p := range served {
		p.answer(fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
}

// isDeposed takes note if err says that the shard is another node's.
func (s *Shard) isDeposed(err error) bool {
	if !errors.Is(err, ErrDeposed) {
		return false
	}
	s.deposed = err
	return true
}

// recover tries, every so often, to build the engine again.
func (s *Shard) recover() bool {
	if time.Now().Before(s.reload) {
		return false
	}
	s.reload = time.Now().Add(reloadInterval)
	if err := s.load(); err != nil {
		if !s.isDeposed(err) {
			s.log.Error("shard cannot be loaded", "error", err)
		}
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
