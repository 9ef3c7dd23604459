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

// ErrUnavailable means that the shard could not carry out a request because its store failed or the shard is closed. It
// is unknown whether the request made a change.
var ErrUnavailable = errors.New("the shard is not available")

// ErrNotBegun is an ErrUnavailable that means that the shard did nothing. The caller can safely repeat the request,
// here or where the shard is open now.
var ErrNotBegun = fmt.Errorf("%w: nothing was done", ErrUnavailable)

// Aliases of the errors of the shard's disk, for packages that use a shard and not its store.
type (
	Writable     = store.Writable
	BlockedError = store.BlockedError
)

// ErrDeposed means that another node owns the shard now. A commit that returns it ends the Shard for good.
var ErrDeposed = store.ErrDeposed

const (
	// requestsAtOnce and bytesAtOnce limit one commit. A larger one would only take longer and need more memory.
	requestsAtOnce = 1024
	bytesAtOnce    = 4 << 20
	// reloadInterval is the pause between attempts to reload after the store failed.
	reloadInterval = time.Second
)

// Options configure a shard.
type Options struct {
	Store *store.Store
	// Configs returns the queues of this shard. It is called when the shard is opened and whenever it is loaded again.
	Configs func() []queue.Config
	// Deleted reports whether a queue is known to be deleted, by records that are at least as new as Configs. The rest
	// of its data is removed when the shard is loaded. Nil means that no queue is.
	Deleted func(queue.ID) bool
	Logger  *slog.Logger // nil discards
	// Now is the machine's clock; nil means time.Now.
	Now func() time.Time
	// Shift returns the correction of that clock, which is added to its time; nil means none. It does not change the
	// pace of time.
	Shift func() time.Duration
	// Commit makes a transaction durable; nil means Store.Commit. In a cluster it appends to a replicated log, which
	// only has to carry Txn.Bytes.
	Commit func(*store.Txn) error
	// Confirm is called before callers are answered from memory without a commit; nil means that no other node can have
	// changed the shard. If Commit or Confirm returns ErrDeposed, the shard ends: it answers all callers with that
	// error from then on.
	Confirm func() error
	// Writable returns the period in which commits can be made at present; nil means that of the disk. Callers stop
	// waiting for a commit when the period ends.
	Writable func() *Writable
	// Require is called with the format that the data directory needs, before a commit that older programs cannot read,
	// until it returns nil. Nil means that no other program reads the store later.
	Require func(format int) error
	// Keep is how long the series of the queues are kept. If it is zero, there are none.
	Keep queue.Keep
	// Reads returns the highest format that all programs read which may open the store later. The engine starts to
	// count what needs a newer format only after that. Nil means that they read all.
	Reads func() int
	// Totals counts what happens to all queues; nil means no counting.
	Totals *Totals
	// Watch returns a watcher of the messages of this shard while it is open; nil means none. Its argument returns the
	// time of the shard.
	Watch func(now func() queue.Instant) Watcher
	// Cipher lets peeks and searches read the text of encrypted messages; nil means that they cannot.
	Cipher queue.Cipher
	// MaxCommit is how many bytes of requests a transaction takes; 0 means 4 MiB. Due work that comes before them and
	// long polls that come after them may each take half as much.
	MaxCommit int
}

// Shard is a keyspace with its queues. Its methods may be called from any goroutine.
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
	reading  sync.RWMutex               // held for reading while the store may be read
	draining atomic.Bool                // long polls no longer wait
	unknown  atomic.Pointer[[]queue.ID] // see Unknown

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

// Open loads the queues of a shard and begins to serve them.
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

// announce publishes what is durable: outboxes and queues of subscriptions with new messages, tasks that need a search,
// and room for publications.
func (s *Shard) announce(e *queue.Engine) {
	s.readyOutboxes.announce(e.OutboxReady())
	s.deliverable.announce(e.Deliverable())
	s.searches.announce(e.Searches())
	if !e.BacklogFull() {
		s.room.open()
	}
}

// Writable returns the period in which the shard can be written at present.
func (s *Shard) Writable() *Writable { return s.writable() }

// Drain ends the long polls with an empty answer. From now on no poll waits.
func (s *Shard) Drain() {
	s.draining.Store(true)
	s.send(newRequest(func(*queue.Engine) error { return nil }))
}

// Close carries out the pending requests and stops the shard. The store stays open, and the shard no longer reads it.
// If the disk is blocked, Close gives the disk up; the store's Close returns that error.
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

// ended returns the error for requests that arrive when the shard has ended.
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

// pause returns how long the owner can sleep unless a request arrives.
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

// finish carries out the requests that were made before the shard was closed.
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

// endDeposed answers the remaining requests when another node owns the shard.
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

// commitBatch makes one transaction: of due work, of the requests that have arrived, and of the long polls that can now
// be answered. Each part has its own share of the transaction, so that none waits for ever behind the others.
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

// take returns the requests to repeat, followed by first if it is not nil.
func (s *Shard) take(first *request) []*request {
	all := s.repeat
	s.repeat = nil
	if first != nil {
		all = append(all, first)
	}
	return all
}

// run runs the given requests and others that have arrived, as long as the transaction has room for them. It returns
// those that it has run, and repeats given requests that it had to leave.
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

// begun begins requests that run in a later transaction than the one that they arrived for.
func (s *Shard) begun(given []*request) (out []*request) {
	for _, r := range given {
		if r.repeated || r.begin() {
			r.repeated = true
			out = append(out, r)
		}
	}
	return out
}

// keepNow returns how long series are kept, and up to which format.
func (s *Shard) keepNow() queue.Keep {
	k := s.keep
	s.asked = time.Now()
	k.UpTo = s.reads()
	return k
}

// allow lets the engine start what all programs can read. It checks once in reloadInterval.
func (s *Shard) allow() {
	if s.engine.Awaits() && time.Since(s.asked) >= reloadInterval {
		s.asked = time.Now()
		s.engine.Allow(s.reads())
	}
}

// requireFormat raises the format of the data directory to what the engine needs.
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

// next returns a request that has arrived, or nil. It first yields to goroutines that are about to send one: if the
// processors are busy, more requests share the commit; if they are idle, the yield takes no time.
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

// fail answers the requests of a transaction that could not be made durable, and drops the engine, whose state is ahead
// of the store.
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

// isDeposed reports whether err means that another node owns the shard, and records that.
func (s *Shard) isDeposed(err error) bool {
	if !errors.Is(err, ErrDeposed) {
		return false
	}
	s.deposed = err
	return true
}

// recover loads the engine again. It tries once in reloadInterval.
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
