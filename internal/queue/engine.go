package queue

import (
	"fmt"
	"math"
	"slices"

	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/tool/heap"
)

// Engine holds the queues of one shard. It belongs to one goroutine, its owner.
//
// The owner works in transactions: Begin, any number of operations, End. It makes the transaction durable, and only
// then passes the results to the callers. If that fails, or if an operation fails with an error that is not a Refusal,
// the engine's memory no longer matches the store, and the owner must discard the engine.
//
// The engine embeds its parts, and each part has the methods for its state: registry knows all queues, publisher sends
// publications to them, notices collect events for the owner. The engine itself has the methods for single queues, the
// beginning and end of transactions, and the clock.
type Engine struct {
	transaction
	registry
	publisher
	notices
	groupRecords groupCache // of all queues
	slots        slots
	series       series
	wakes        heap.Heap[*queue]

	unwritten []ID // queues whose empty receives are not written yet
	unclosed  []ID // queues that were shelved while no engine was loaded; see closeShelved

	reads      int  // the format that every program can read; 0: any; see Keep.UpTo and Allow
	keepPurged bool // see KeepPurged
	undoAtOnce int  // messages that one call of restoreKept restores
}

// clockKey is the key of the newest instant that the engine has seen. The engine's time never goes back, even over a
// restart.
var clockKey = key(nil).uint64(uint64(ofShard)).string("clock")

// Load builds an engine for the given queues from the store. Data of other queues may remain from an interrupted
// deletion: Advance removes it if deleted reports the queue. Otherwise the data stays; see Unknown. A queue that
// another shard serves costs no read if its outbox is empty. keep sets how long the series of the queues are kept.
func Load(tx Txn, now Instant, configs []Config, deleted func(ID) bool, keep Keep) (*Engine, error) {
	e := newEngine(deleted, keep)
	b, err := tx.Get(clockKey)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if b != nil {
		r := readRecord(b)
		e.now = r.Instant()
		if err := r.done("clock"); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	}
	e.Begin(tx, now)
	for _, cfg := range configs {
		if cfg.Shelved {
			if err := e.loadShelved(&cfg); err != nil {
				return nil, fmt.Errorf("load: %w", err)
			}
			continue
		}
		if cfg.Elsewhere {
			e.addOutbox(cfg)
			continue
		}
		q := e.add(cfg)
		if err := q.load(); err != nil {
			return nil, fmt.Errorf("load queue %s: %w", cfg.ARN, err)
		}
	}
	err = firstError(
		e.slots.load(func(id ID) *queue { return e.queues[id] }), e.loadOthers(), e.series.loadAging(),
		e.backlog.load(),
		e.topics.load(),
	)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	e.End()
	return e, nil
}

// newEngine returns an engine without queues.
func newEngine(deleted func(ID) bool, keep Keep) *Engine {
	e := &Engine{
		transaction: transaction{limit: math.MaxInt}, groupRecords: make(groupCache),
		reads: keep.UpTo, undoAtOnce: workAtOnce,
		wakes: heap.New((*queue).earlier, func(q *queue) *int { return &q.wakePlace }),
	}
	t := &e.transaction
	e.slots, e.series = slots{transaction: t}, newSeries(t, keep)
	e.registry = newRegistry(t, &e.series, deleted)
	e.publisher.init(&e.registry, &e.series)
	return e
}

// load rebuilds the queue's memory.
func (q *queue) load() error {
	tx, id := q.tx, q.cfg.ID
	b, err := tx.Get(metaKey(id))
	if err != nil {
		return err
	}
	if b == nil { // nothing was ever written, or the record is lost
		k, err := firstKey(tx, id)
		if err == nil && k != nil {
			err = fmt.Errorf("the record of the queue: %w", errMissing)
		}
		return err
	}
	if err := q.restore(b); err != nil {
		return err
	}
	if q.tally.counting != (counting{}) {
		q.e.series.waits = false
		q.needs(formats.Series)
	}
	if withSizes(b[0]) {
		q.e.series.unsized = false
		q.needs(formats.Sizes)
	}
	if b[0] >= keptVersion {
		q.needs(formats.Kept)
	}
	if err := q.tally.loadName(); err != nil {
		return err
	}
	q.tally.load(q.stored == 0)
	if err := q.messages.load(); err != nil {
		return err
	}
	return q.moves.load()
}

// firstQueue returns the first queue from an id on that has data, or 0.
func firstQueue(r Reader, from ID) (found ID, err error) {
	lo, _ := queueRange(from)
	end, _ := queueRange(shared)
	err = r.Scan(lo, end, func(k, _ []byte) bool {
		found, _ = queueOf(k)
		return false
	})
	return found, err
}

// firstKey returns the first key of a queue outside its outbox, or nil if there is none.
func firstKey(r Reader, id ID) (found []byte, err error) {
	from, end := queueRange(id)
	for _, table := range []byte{tableOutbox, tableOutboxMessage} {
		lo, hi := tableRange(id, table)
		if err = r.Scan(from, lo, func(k, _ []byte) bool {
			found = slices.Clone(k)
			return false
		}); found != nil || err != nil {
			return found, err
		}
		from = hi
	}
	err = r.Scan(from, end, func(k, _ []byte) bool { found = slices.Clone(k); return false })
	return found, err
}

// Begin starts a transaction at now, or at the newest instant seen if that is
// later.
func (e *Engine) Begin(tx Txn, now Instant) {
	e.tx = tx
	e.now = max(e.now, now)
}

// End writes the records that the transaction has changed. It returns the touched queues, in which a waiting receive
// may now find a message.
func (e *Engine) End() []ID {
	touched := make([]ID, 0, len(e.touched))
	wrote := e.forceWrite
	e.forceWrite = false
	for _, b := range e.touched {
		touched = append(touched, b.cfg.ID)
		b.touched = false
		q := e.queues[b.cfg.ID]
		if q == nil {
			continue // it was removed
		}
		if q.dirty {
			q.save()
			wrote = true
		}
		// Among the queues that are due, the one that was touched is last.
		e.wake(q, max(q.schedule(), min(q.wakeAt, e.now)))
		q.announce()
	}
	e.touched = e.touched[:0]
	wrote = e.outboxes.save() || wrote
	wrote = e.backlog.save() || wrote
	wrote = e.topics.save() || wrote
	if wrote {
		w := beginRecord(e.scratch)
		w.Instant(e.now)
		e.scratch = w.Writer
		e.tx.Set(clockKey, e.scratch)
	}
	e.tx = nil
	return touched
}

// save writes the queue's record.
func (q *queue) save() {
	e, m := q.e, q.record()
	e.scratch = m.encode(e.scratch)
	e.tx.Set(e.key(q.cfg.ID, tableMeta), e.scratch)
	if m.counting != (counting{}) {
		e.needs(formats.Series)
		q.tally.saveName()
	}
	if withSizes(e.scratch[0]) {
		e.needs(formats.Sizes)
	}
	if e.scratch[0] >= keptVersion {
		e.needs(formats.Kept)
	}
	q.dirty = false
	q.tally.written()
}

// NextWake returns when Advance has work to do, or a time in the far future.
func (e *Engine) NextWake() Instant {
	next := min(e.series.aging.next, e.topics.next())
	switch {
	case e.backlog.waiting(), len(e.remains.deleted) > 0, len(e.unclosed) > 0:
		return e.now
	case e.wakes.Len() == 0:
		return next
	}
	return min(e.wakes.First().wakeAt, next)
}

// Advance removes the remaining data of deleted queues, and does the work that has become due with time: timeouts,
// delays, expiry, message move tasks, waiting copies of publications, the ends of minutes, and the merging of old
// series. It does a limited amount of work; if more is left, NextWake is not in the future.
func (e *Engine) Advance() error {
	if err := firstError(e.backlog.expand(), e.topics.advance()); err != nil {
		return err
	}
	e.work = 0
	if err := firstError(e.remains.removeDeleted(), e.closeShelved()); err != nil {
		return err
	}
	for !e.spent() && e.wakes.Len() > 0 && e.wakes.First().wakeAt <= e.now {
		e.work++
		q := e.wakes.First()
		if err := q.advance(); err != nil {
			return err
		}
		if err := q.move(); err != nil {
			return err
		}
		// The other queues come first, even if this one has more to do.
		e.wake(q, max(q.schedule(), e.now+1))
	}
	return e.series.age()
}

// Configure adds a queue or changes its attributes. It also puts a queue on the shelf, and takes it off; see
// Config.Shelved. This shard can take over a queue from another shard; the messages in the outbox still go there. It
// cannot give up a queue: the error is ErrElsewhere.
func (e *Engine) Configure(cfg Config) error {
	e.letGo(cfg.ID)
	switch {
	case slices.Contains(e.remains.deleted, cfg.ID):
		return nil // the config is older than the deletion
	case cfg.Shelved:
		return e.shelve(&cfg)
	case cfg.Elsewhere && e.queues[cfg.ID] != nil:
		return ErrElsewhere
	case cfg.Elsewhere && e.outboxes.at[cfg.ID] == nil:
		e.addOutbox(cfg)
		return e.know(cfg.ID)
	case cfg.Elsewhere:
		e.outboxes.at[cfg.ID].sealed = cfg.Sealed
		return nil // its other attributes matter only to the shard that serves it
	}
	if q := e.queues[cfg.ID]; q != nil {
		sealing := q.cfg.Sealed != cfg.Sealed
		q.cfg = cfg
		q.nextExpiry, q.groups.pausesChanged = 0, cfg.FIFO
		if err := q.advance(); err != nil {
			return err
		}
		if !sealing { // which is not a call of a client
			q.tally.called()
		}
		return nil
	}
	if o := e.outboxes.at[cfg.ID]; o != nil && o.last == 0 {
		delete(e.outboxes.at, cfg.ID)
	}
	q := e.add(cfg)
	if err := e.know(cfg.ID); err != nil {
		return err
	}
	q.tally.called()
	return nil
}

func (e *Engine) add(cfg Config) *queue {
	q := newQueue(e, cfg)
	e.serve(q)
	q.touch()
	return q
}

// Drop removes a queue and its data, except its series. It does nothing if there is no such queue.
func (e *Engine) Drop(id ID) error {
	if _, shelved := e.shelf[id]; shelved {
		return e.dropShelved(id)
	}
	if o := e.outboxes.at[id]; o != nil {
		e.dropOutbox(o)
	}
	if e.remains.unknown[id] {
		delete(e.remains.unknown, id)
		return e.remains.remove(id)
	}
	q := e.queues[id]
	if q == nil {
		return nil
	}
	if err := q.dedup.purge(); err != nil {
		return err
	}
	e.tx.DeleteRange(queueRange(id))
	if err := q.tally.close(); err != nil {
		return err
	}
	e.remove(q)
	return nil
}

// Counts returns how many messages a queue holds in each state. Messages in its outbox and copies in the backlog count
// as visible, so a message on its way counts, too.
func (e *Engine) Counts(id ID) (Counts, error) {
	elsewhere := e.outboxes.waiting(id) + e.backlog.copies[id]
	if e.outboxes.at[id] != nil && e.queues[id] == nil {
		return Counts{Visible: elsewhere}, nil
	}
	q, err := e.queueAtPresent(id)
	if err != nil {
		return Counts{}, err
	}
	n := q.counts()
	n.Visible += elsewhere
	return n, nil
}

// Available reports whether a receive from the queue would return at once: with messages, or because there is no such
// queue.
func (e *Engine) Available(id ID) bool {
	q := e.queues[id]
	return q == nil || q.available()
}

// earlier orders queues by their wake-up time.
func (q *queue) earlier(r *queue) bool {
	return q.wakeAt < r.wakeAt || q.wakeAt == r.wakeAt && q.cfg.ID < r.cfg.ID
}

// wake sets the wake-up time of q. It is never if q waits for nothing.
func (e *Engine) wake(q *queue, at Instant) {
	q.wakeAt = at
	if at == never {
		e.wakes.Remove(q)
	} else {
		e.wakes.Set(q)
	}
}
