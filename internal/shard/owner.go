package shard

import (
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// owner is the goroutine that owns the engine, with all state that only this goroutine uses. It can use the whole
// Shard; the Shard reaches its owner only by requests.
type owner struct {
	*Shard
	clock   *clock
	commit  func(*store.Txn) error
	confirm func() error
	require func(format int) error
	configs func() []queue.Config
	deleted func(queue.ID) bool
	keep    queue.Keep
	reads   func() int
	low     func() bool
	totals  *Totals

	engine    *queue.Engine         // nil after a failure, until it is loaded again
	reload    time.Time             // not before that
	asked     time.Time             // when reads and low were called
	format    int                   // the last argument of require
	counted   [queue.Counters]int64 // as reported to the totals
	repeat    []*request            // requests for the next transaction
	maxCommit int                   // bytes of a transaction for requests
	overdue   int                   // and for due work
}

// load builds the engine from the store.
func (o *owner) load() error {
	tx := o.store.Begin()
	defer tx.Release()
	engine, err := queue.Load(tx, o.clock.time(), o.configs(), o.deleted, o.keepNow())
	if err != nil {
		return err
	}
	if err := o.requireFormat(engine); err != nil {
		return err
	}
	if !tx.Empty() {
		if err := o.commit(tx); err != nil {
			return err
		}
	}
	o.recent.clear()
	engine.Remember(&o.recent)
	engine.KeepPurged(!o.low())
	if o.watcher != nil {
		engine.WatchDeadLetters()
	}
	o.engine, o.counted = engine, engine.Totals()
	o.announce(engine)
	o.reportUnknown(engine)
	return nil
}

// announce publishes durable news: outboxes and queues of subscriptions with new messages, tasks that need a search,
// and room for publications.
func (o *owner) announce(e *queue.Engine) {
	o.outboxes.ready.announce(e.OutboxReady())
	o.deliverable.announce(e.Deliverable())
	o.searcher.wanted.announce(e.Searches())
	if !e.BacklogFull() {
		o.room.open()
	}
}

// loop is the owner goroutine.
func (o *owner) loop() {
	defer close(o.closed)
	if o.watcher != nil {
		defer o.watcher.Close()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		var first *request
		select {
		case first = <-o.requests:
		default:
			if len(o.repeat) == 0 && (o.engine == nil || !o.polls.pending()) {
				timer.Reset(o.pause())
				select {
				case first = <-o.requests:
				case <-timer.C:
				case <-o.closing:
					o.finish()
					return
				}
			}
		}
		if o.commitBatch(first); o.deposed != nil {
			o.endDeposed()
			return
		}
	}
}

// pause returns how long the owner can wait for a request before other work is due.
func (o *owner) pause() time.Duration {
	const longest = time.Hour
	if o.engine == nil {
		return reloadInterval
	}
	now := o.clock.time()
	wake := o.engine.NextWake()
	if next, ok := o.polls.nextEnd(); ok {
		wake = min(wake, next)
	}
	if wake > now.Add(longest) {
		return longest
	}
	return max(0, wake.Sub(now))
}

// finish runs the requests that were made before the shard was closed.
func (o *owner) finish() {
	for {
		select {
		case r := <-o.requests:
			o.commitBatch(r)
		default:
			if len(o.repeat) > 0 {
				o.commitBatch(nil)
				continue
			}
			if o.empty.begin() {
				o.commitBatch(newEmptyWrite())
			}
			o.polls.endAll()
			return
		}
	}
}

// endDeposed answers the remaining requests when another node owns the shard.
func (o *owner) endDeposed() {
	o.log.Warn("shard belongs to another node", "error", o.deposed)
	o.polls.fail(o.ended())
	for _, r := range o.take(nil) {
		r.answer(o.ended())
	}
	for {
		select {
		case r := <-o.requests:
			r.answer(o.ended())
		default:
			return
		}
	}
}

// keepNow returns how long series are kept, and up to which format.
func (o *owner) keepNow() queue.Keep {
	k := o.keep
	o.asked = time.Now()
	k.UpTo = o.reads()
	return k
}

// allow lets the engine start features that all programs can read, and lets purges keep messages while there is room.
// It checks once in reloadInterval.
func (o *owner) allow() {
	if time.Since(o.asked) < reloadInterval {
		return
	}
	o.asked = time.Now()
	o.engine.Allow(o.reads())
	low := o.low()
	o.engine.KeepPurged(!low)
	if low {
		o.engine.ForgetPurged()
	}
}

// requireFormat raises the format of the data directory to what the engine needs.
func (o *owner) requireFormat(e *queue.Engine) error {
	format := e.Format()
	if format <= o.format {
		return nil
	}
	if err := o.require(format); err != nil {
		return err
	}
	o.format = format
	return nil
}

// isDeposed reports whether err means that another node owns the shard. If so, it records that.
func (o *owner) isDeposed(err error) bool {
	if !errors.Is(err, ErrDeposed) {
		return false
	}
	o.deposed = err
	return true
}

// recover loads the engine again. It tries once in reloadInterval.
func (o *owner) recover() bool {
	if time.Now().Before(o.reload) {
		return false
	}
	o.reload = time.Now().Add(reloadInterval)
	if err := o.load(); err != nil {
		if !o.isDeposed(err) {
			o.log.Error("shard cannot be loaded", "error", err)
		}
		return false
	}
	o.polls.touchAll()
	o.log.Info("shard is back")
	return true
}
