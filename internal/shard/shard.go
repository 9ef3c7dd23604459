package shard

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// ErrUnavailable says that the shard could not do what was asked because its
// store failed or the shard is closed. Whether it made a change is then unknown.
var ErrUnavailable = errors.New("the shard is not available")

// ErrNotBegun is an ErrUnavailable that says that the shard did nothing: to ask
// again is safe, here or wherever the shard is open now.
var ErrNotBegun = fmt.Errorf("%w: nothing was done", ErrUnavailable)

// A shard's names for the errors of the disk that it is on, for packages that use a shard and not its store.
type (
	Writable     = store.Writable
	BlockedError = store.BlockedError
)

// ErrDeposed says that another node owns the shard now. A commit that returns it ends
// the Shard for good.
var ErrDeposed = store.ErrDeposed

const (
	// requestsAtOnce and bytesAtOnce bound one commit. A larger one would only take
	// longer and more memory.
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
	// Deleted reports whether a queue is known to be deleted, by what is at least as new as Configs: the rest of its
	// data is removed when the shard is loaded. Nil means that no queue is.
	Deleted func(queue.ID) bool
	Logger  *slog.Logger // nil discards
	// Now is the machine's clock; nil means time.Now.
	Now func() time.Time
	// Shift returns what must be added to the time of that clock because the clock is
	// off; nil means nothing. It does not change the pace of time.
	Shift func() time.Duration
	// Commit makes a transaction durable; nil means Store.Commit. In a cluster it
	// appends to a replicated log, which has to carry Txn.Bytes only.
	Commit func(*store.Txn) error
	// Confirm is called before callers are answered from memory, when there is nothing
	// to commit; nil means that no other node can have changed the shard. If Commit
	// or Confirm return ErrDeposed, the shard ends: it answers all callers with that
	// error from then on.
	Confirm func() error
	// Writable returns the time in which commits can be made at present; nil means
	// the disk's. Callers do not wait for a commit when that time has ended.
	Writable func() *Writable
	// Require is called before a commit that older programs cannot read, with the format
	// that the data directory then has, until it returns nil; nil means that no program
	// reads the store later.
	Require func(format int) error
	// Keep is for how long the series of the queues are kept; there are none if it is zero.
	Keep queue.Keep
	// Reads returns the highest format of a data directory that all programs read which may
	// open the store later: what the engine counts waits for it. Nil means that they read all.
	Reads func() int
	// Totals counts what happens to all queues; nil means that it is not asked for.
	Totals *Totals
	// Watch returns what watches the messages of this shard as long as it is open; nil means that nothing does. It is
	// given the time of the shard.
	Watch func(now func() queue.Instant) Watcher
	// Cipher lets looks and searches see the text of encrypted messages; nil means that they cannot.
	Cipher queue.Cipher
	// MaxCommit is how many bytes of requests a transaction takes, 0 means 4 MiB; half as much
	// of what time has made due comes before them, and half as much for long polls behind them.
	MaxCommit int
}

// Shard is a keyspace with its queues. Its methods may be called from any
// goroutine.
type Shard struct {
	store     *store.Store
	disk      *store.Disk
	commit    func(*store.Txn) error
	confirm   func() error
	writable  func() *Writable
	require   func(format int) error
	maxCommit int
	log       *slog.Logger
	clock     *clock

	requests chan *request
	closing  chan struct{}
	closed   chan struct{}
	once     sync.Once
	reading  sync.RWMutex // held for reading while the store may be read
	draining atomic.Bool  // long polls no longer wait
	unknown  atomic.Int64 // see Unknown

	readyOutboxes, deliverable readyQueues
	searches                   readyQueues // whose tasks want a search
	room                       backlogRoom
	empty                      emptyReceives
	waits                      waits
	pacer                      *pacer
	watcher                    Watcher // nil: nothing watches the messages
	cipher                     queue.Cipher
	weighing                   sync.Mutex
	scales                     scales // weighing is held

	// The following fields belong to the owner goroutine.
	engine  *queue.Engine // nil while it has lost touch with the store
	configs func() []queue.Config
	deleted func(queue.ID) bool
	keep    queue.Keep
	reads   func() int
	asked   time.Time // when reads was called
	totals  *Totals
	counted [queue.Counters]int64 // as reported to the totals
	repeat  []*request            // of a transaction that was too long
	overdue int                   // bytes of a transaction for what time has made due
	polls   polls
	reload  time.Time
	format  int   // what require has been called with
	deposed error // other goroutines may read it when closed is closed
}

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
	if o.Writable == nil {
		o.Writable = o.Store.Disk().Writable
	}
	if o.Require == nil {
		o.Require = func(int) error { return nil }
	}
	if o.Reads == nil {
		o.Reads = func() int { return math.MaxInt }
	}
	if o.Deleted == nil {
		o.Deleted = func(queue.ID) bool { return false }
	}
	if o.MaxCommit == 0 {
		o.MaxCommit = bytesAtOnce
	}
	s := &Shard{
		store: o.Store, disk: o.Store.Disk(), commit: o.Commit, confirm: o.Confirm,
		writable: o.Writable, require: o.Require, format: 1, maxCommit: o.MaxCommit, log: o.Logger,
		requests: make(chan *request, requestsAtOnce),
		closing:  make(chan struct{}), closed: make(chan struct{}),
		configs: o.Configs, deleted: o.Deleted, overdue: o.MaxCommit / 2, keep: o.Keep, reads: o.Reads,
		totals: o.Totals, polls: newPolls(), cipher: o.Cipher,
	}
	s.pacer, s.scales = newPacer(), make(scales)
	s.clock = newClock(o.Now, o.Shift, 0)
	if err := s.load(); err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	s.clock = newClock(o.Now, o.Shift, s.engine.Now())
	s.watch(&o)
	go s.loop()
	go s.search()
	return s, nil
}

// load builds the engine from what is durable.
func (s *Shard) load() error {
	tx := s.store.Begin()
	defer tx.Release()
	engine, err := queue.Load(tx, s.clock.time(), s.configs(), s.deleted, s.keepNow())
	if err != nil {
		return err
	}
	if err := s.requireFormat(engine); err != nil {
		return err
	}
	if !tx.Empty() {
		if err := s.commit(tx); err != nil {
			return err
		}
	}
	if s.watcher != nil {
		engine.WatchDeadLetters()
	}
	s.engine, s.counted = engine, engine.Totals()
	s.announce(engine)
	s.reportUnknown(engine)
	return nil
}

// announce tells what has come into outboxes and queues of subscriptions and which tasks want a search, when it is
// durable, and whether there is room for publications.
func (s *Shard) announce(e *queue.Engine) {
	s.readyOutboxes.announce(e.OutboxReady())
	s.deliverable.announce(e.Deliverable())
	s.searches.announce(e.Searches())
	if !e.BacklogFull() {
		s.room.open()
	}
}

// Writable returns the time in which the shard can be written at present.
func (s *Shard) Writable() *Writable { return s.writable() }

// Drain ends the long polls with an empty answer; from now on no poll waits.
func (s *Shard) Drain() {
	s.draining.Store(true)
	s.send(newRequest(func(*queue.Engine) error { return nil }))
}

// Close does what was asked for and stops the shard. The store stays open, and the
// shard no longer reads it. If the disk is blocked, Close gives it up; the store's
// Close returns that.
func (s *Shard) Close() {
	s.draining.Store(true)
	s.once.Do(func() {
		close(s.closing)
		s.pacer.close()
	})
	_ = s.disk.Guard(func() error {
		<-s.closed
		s.reading.Lock()
		defer s.reading.Unlock()
		return nil
	})
}

// ended returns the error for callers who come when the shard has ended.
func (s *Shard) ended() error {
	if s.deposed != nil {
		return fmt.Errorf("%w: %w", ErrNotBegun, s.deposed)
	}
	return ErrNotBegun
}

// loop is the owner goroutine.
func (s *Shard) loop() {
	defer close(s.closed)
	if s.watcher != nil {
		defer s.watcher.Close()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var first *request
		select {
		case first = <-s.requests:
		default:
			if len(s.repeat) == 0 && (s.engine == nil || !s.polls.pending()) {
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

// pause returns how long the owner has nothing to do unless a request comes.
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

// finish does what was asked for before the shard was closed.
func (s *Shard) finish() {
	for {
		select {
		case r := <-s.requests:
			s.commitBatch(r)
		default:
			if len(s.repeat) > 0 {
				s.commitBatch(nil)
				continue
			}
			if s.empty.begin() {
				s.commitBatch(newEmptyWrite())
			}
			s.polls.endAll()
			return
		}
	}
}

// endDeposed answers the requests that are left when another node owns the shard.
func (s *Shard) endDeposed() {
	s.log.Warn("shard belongs to another node", "error", s.deposed)
	s.polls.fail(s.ended())
	for _, r := range s.take(nil) {
		r.answer(s.ended())
	}
	for {
		select {
		case r := <-s.requests:
			r.answer(s.ended())
		default:
			return
		}
	}
}

// commitBatch makes one transaction: of what time has made due, of the requests that
// have come, and of the long polls that can now be answered. Each has room of its own in
// the transaction, so that none waits for ever behind the others.
func (s *Shard) commitBatch(first *request) {
	if s.engine == nil && !s.recover() {
		for _, r := range s.take(first) {
			r.answer(ErrNotBegun)
		}
		s.polls.end(s.clock.time(), s.draining.Load())
		return
	}
	tx := s.store.Begin()
	defer tx.Release()
	s.engine.Begin(tx, s.clock.time())

	s.allow()
	s.empty.count(s.engine) // before a minute ends in which they were
	s.engine.Limit(s.overdue)
	err := s.engine.Advance()
	sizes := sizes{due: tx.Size()}
	var batch []*request
	if err == nil {
		s.engine.Limit(tx.Size() + s.maxCommit)
		if given := s.take(first); len(given) > 0 {
			batch, err = s.run(tx, given, &sizes)
		}
	}
	var served []*poll
	if err == nil {
		s.engine.Limit(tx.Size() + s.maxCommit/2)
		served, err = s.polls.serve(s.engine, func(p *poll) { sizes.add(tx.Size(), nil, p) })
	}
	if err == nil {
		s.polls.touched(s.engine.End())
		if err = s.requireFormat(s.engine); err == nil && tx.Empty() {
			err = s.confirm()
		} else if err == nil {
			s.pacer.commits.Add(1)
			err = s.commit(tx)
		}
	}
	switch {
	case errors.Is(err, store.ErrTooLong):
		s.divide(err, &sizes, batch, served)
		return
	case err != nil:
		s.fail(err, batch, served)
		return
	}
	now := s.engine.Totals()
	s.totals.add(s.counted, now)
	s.counted = now
	s.announce(s.engine)
	s.tellOfDeadLetters()
	for _, r := range batch {
		if p := r.poll; p != nil {
			if p.empty() {
				s.polls.add(p)
				continue
			}
			r.err = p.err
		}
		r.answer(r.err)
	}
	for _, p := range served {
		p.answer(p.err)
	}
	s.polls.end(s.clock.time(), s.draining.Load())
}

// take returns the requests that are to be repeated, with first behind them if it is not nil.
func (s *Shard) take(first *request) []*request {
	all := s.repeat
	s.repeat = nil
	if first != nil {
		all = append(all, first)
	}
	return all
}

// run runs those requests and others that have come, as long as there is room for them, and returns those that it has
// run. It repeats given requests that it has to leave.
func (s *Shard) run(tx *store.Txn, given []*request, sizes *sizes) (batch []*request, err error) {
	next := func() (r *request) {
		if len(given) == 0 {
			return s.next()
		}
		r, given = given[0], given[1:]
		return r
	}
	for r := next(); r != nil; r = next() {
		if !r.repeated && !r.begin() {
			continue
		}
		batch = append(batch, r)
		if r.err = r.work.do(s.engine); r.err != nil && !queue.IsRefusal(r.err) {
			err = r.err
			break
		}
		sizes.add(tx.Size(), r, nil)
		if len(batch) == requestsAtOnce || s.engine.Full() {
			break
		}
	}
	s.repeat = append(s.repeat, s.begun(given)...)
	return batch, err
}

// begun begins requests that are run in another transaction than the one that they came for.
func (s *Shard) begun(given []*request) (out []*request) {
	for _, r := range given {
		if r.repeated || r.begin() {
			r.repeated = true
			out = append(out, r)
		}
	}
	return out
}

// keepNow returns for how long series are kept, and up to which format.
func (s *Shard) keepNow() queue.Keep {
	k := s.keep
	s.asked = time.Now()
	k.UpTo = s.reads()
	return k
}

// allow lets the engine begin with what all programs can read. It asks once in reloadInterval.
func (s *Shard) allow() {
	if s.engine.Awaits() && time.Since(s.asked) >= reloadInterval {
		s.asked = time.Now()
		s.engine.Allow(s.reads())
	}
}

// requireFormat raises the format of the data directory to the one that the engine needs.
func (s *Shard) requireFormat(e *queue.Engine) error {
	format := e.Format()
	if format <= s.format {
		return nil
	}
	if err := s.require(format); err != nil {
		return err
	}
	s.format = format
	return nil
}

// next returns a request that has come, or nil. It lets goroutines run first that are
// about to send one: if the processors are busy, more requests share the commit; if
// they are idle, it takes no time.
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

// fail answers the requests of a transaction that could not be made durable, and
// drops the engine, which has what the store has not.
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

// isDeposed reports whether err says that another node owns the shard, and keeps it.
func (s *Shard) isDeposed(err error) bool {
	if !errors.Is(err, ErrDeposed) {
		return false
	}
	s.deposed = err
	return true
}

// recover builds the engine again. It tries once in reloadInterval.
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
