package shard

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// ErrUnavailable means that the shard could not carry out a request because its store failed or the shard is closed. It
// is unknown whether the request made a change.
var ErrUnavailable = errors.New("the shard is not available")

// ErrNotBegun is the ErrUnavailable of a request that the shard has not begun. The caller can safely repeat the
// request, here or on the node where the shard is open now.
var ErrNotBegun = fmt.Errorf("%w: nothing was done", ErrUnavailable)

// Aliases of the errors of the shard's disk, for packages that use a shard and not its store.
type (
	Writable     = store.Writable
	BlockedError = store.BlockedError
)

// ErrDeposed means that another node owns the shard now. A commit that returns it ends the Shard for good.
var ErrDeposed = store.ErrDeposed

const (
	// requestsAtOnce and bytesAtOnce limit one commit. A larger commit would only take longer and need more memory.
	requestsAtOnce = 1024
	bytesAtOnce    = 4 << 20
	// reloadInterval is the pause between attempts to reload after the store failed.
	reloadInterval = time.Second
)

// Options configure a shard.
type Options struct {
	Store *store.Store
	// Number is the number of the shard, under which shards record what they have accepted from it.
	Number int
	// Configs returns the queues of this shard. It is called when the shard is opened and whenever it is loaded again.
	Configs func() []queue.Config
	// Deleted reports whether a queue is known to be deleted, by records that are at least as new as Configs. Remaining
	// data of deleted queues is removed when the shard is loaded. Nil means that no queue is deleted.
	Deleted func(queue.ID) bool
	Logger  *slog.Logger // nil discards
	// Now is the machine's clock; nil means time.Now.
	Now func() time.Time
	// Shift returns the correction of that clock, which is added to its time; nil means none. It does not change the
	// pace of time.
	Shift func() time.Duration
	// Commit makes a transaction durable; nil means Store.Commit. In a cluster it appends Txn.Bytes to a replicated
	// log.
	Commit func(*store.Txn) error
	// Confirm is called before callers are answered from memory without a commit; nil means that no other node can have
	// changed the shard. If Commit or Confirm returns ErrDeposed, the shard ends: it answers all callers with that
	// error from then on.
	Confirm func() error
	// Writable returns the current period in which commits can be made; nil means that of the disk. Callers stop
	// waiting for a commit when the period ends.
	Writable func() *Writable
	// Require is called with the format that the data directory needs, before a commit that older programs cannot read,
	// until it returns nil. Nil means that no other program reads the store later.
	Require func(format int) error
	// Keep is how long the series of the queues are kept. Zero means no series.
	Keep queue.Keep
	// Reads returns the highest format that all programs that may open the store later can read. The engine begins
	// features that need a newer format only when all programs can read it. Nil means any format.
	Reads func() int
	// Low reports whether purges keep nothing, because a disk with this shard is nearly full or because of the
	// operator's settings. Messages that purges have kept are then dropped. Nil means that purges always keep them.
	Low func() bool
	// Totals counts the events of all queues; nil means no counting.
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
	*inbox
	*readers
	*outboxes
	log    *slog.Logger
	number int

	draining    atomic.Bool // long polls no longer wait
	deliverable readyQueues // queues of subscriptions
	room        *backlogRoom
	searcher    *searcher
	empty       emptyReceives
	waits       waits
	scales      scales
	unknown     unknownQueues
	watcher     Watcher // nil: none

	polls polls // only for the owner, and so for the requests that it runs
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
	if o.Low == nil {
		o.Low = func() bool { return false }
	}
	if o.Deleted == nil {
		o.Deleted = func(queue.ID) bool { return false }
	}
	if o.MaxCommit == 0 {
		o.MaxCommit = bytesAtOnce
	}
	s := newShard(&o)
	own := &owner{
		Shard: s, clock: newClock(o.Now, o.Shift, 0), commit: o.Commit, confirm: o.Confirm, require: o.Require,
		configs: o.Configs, deleted: o.Deleted, keep: o.Keep, reads: o.Reads, low: o.Low, totals: o.Totals,
		maxCommit: o.MaxCommit, overdue: o.MaxCommit / 2, format: 1,
	}
	if err := own.load(); err != nil {
		return nil, fmt.Errorf("open shard: %w", err)
	}
	own.clock = newClock(o.Now, o.Shift, own.engine.Now())
	if o.Watch != nil {
		own.watch(o.Watch(watchTime(&o)))
	}
	go own.loop()
	go s.searcher.run()
	return s, nil
}

// newShard returns a Shard without an owner.
func newShard(o *Options) *Shard {
	in := newInbox(o.Store.Disk(), o.Writable)
	rs := &readers{inbox: in, store: o.Store, log: o.Logger, pacer: newPacer(), cipher: o.Cipher}
	return &Shard{
		room:  newBacklogRoom(),
		inbox: in, readers: rs, outboxes: &outboxes{inbox: in, readers: rs}, log: o.Logger, number: o.Number,
		polls:    newPolls(),
		searcher: &searcher{inbox: in, readers: rs}, empty: emptyReceives{inbox: in},
		scales: scales{readers: rs, of: make(map[queue.ID]*scale)},
	}
}

// Drain ends the long polls with an empty answer. From now on no poll waits.
func (s *Shard) Drain() {
	s.draining.Store(true)
	s.send(newRequest(func(*queue.Engine) error { return nil }))
}

// Close runs the pending requests and stops the shard. The store stays open; the shard no longer uses it. If the disk
// is blocked, Close gives up the disk, and the store's Close returns that error.
func (s *Shard) Close() {
	s.draining.Store(true)
	s.inbox.close()
	s.pacer.close()
	_ = s.disk.Guard(func() error {
		<-s.closed
		s.readers.wait()
		return nil
	})
}
