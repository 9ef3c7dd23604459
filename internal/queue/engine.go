package queue

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"slices"
)

// Engine holds the queues of one shard. It belongs to one goroutine.
//
// Work is done in transactions: Begin, any number of operations, End. The
// owner then makes the transaction durable, and only then lets anybody see the
// operations' results. If that fails, or if an operation fails with anything
// but a refusal, the engine has lost touch with the store and must be dropped.
type Engine struct {
	queues map[ID]*queue
	away   map[ID]*away
	byARN  map[string]destination
	groups groupCache
	wakes  wakeHeap
	// departing are the away queues that have begun to hold messages.
	departing []ID

	tx      Txn
	now     Instant // never goes back
	visited []*queue
	changed []*away
	work    int    // messages touched by housekeeping since Advance or Receive began
	record  []byte // scratch for the record of a message
	marked  bool   // the clock is to be written though nothing else is
	keptLow uint64 // buckets of deduplication ids before it are empty
}

// clockKey holds the newest instant the engine has seen, so that its time does
// not go back over a restart either. No queue has the id 0.
var clockKey = key(nil).uint64(0).string("clock")

// Load builds an engine for the given queues from what is stored. Data of other
// queues are removed in tx: they are what is left of queues whose deletion was
// cut short. An away queue of which nothing is stored costs no read.
func Load(tx Txn, now Instant, configs []Config) (*Engine, error) {
	e := &Engine{
		queues: make(map[ID]*queue), away: make(map[ID]*away), byARN: make(map[string]destination), groups: make(groupCache),
	}
	b, err := tx.Get(clockKey)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	if b != nil {
		r := readRecord(b)
		e.now = r.instant()
		if err := r.done("clock"); err != nil {
			return nil, fmt.Errorf("load: %w", err)
		}
	}
	e.Begin(tx, now)
	for _, cfg := range configs {
		if cfg.Away {
			e.addAway(cfg)
			continue
		}
		q := e.add(cfg)
		if err := q.load(); err != nil {
			return nil, fmt.Errorf("load queue %s: %w", cfg.ARN, err)
		}
	}
	if err := firstError(e.loadFilters(), e.loadOthers()); err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	e.End()
	return e, nil
}

// loadOthers looks for what is stored of other queues than those served here:
// it loads what is of queues that are away, and removes what is of none.
func (e *Engine) loadOthers() error {
	for next := ID(1); ; next++ {
		found := ID(0)
		end, _ := queueRange(shared)
		lo, _ := queueRange(next)
		err := e.tx.Scan(lo, end, func(k, _ []byte) bool {
			found, _ = queueOf(k)
			return false
		})
		if err != nil || found == 0 {
			return err
		}
		if q := e.queues[found]; q != nil {
			if err := q.loadLine(); err != nil {
				return fmt.Errorf("queue %s: %w", q.cfg.ARN, err)
			}
		} else if a := e.away[found]; a != nil {
			if err := a.load(); err != nil {
				return fmt.Errorf("queue %s: %w", a.arn, err)
			}
		} else {
			e.tx.DeleteRange(queueRange(found))
		}
		next = found
	}
}

// load rebuilds what the queue keeps in memory.
func (q *queue) load() error {
	tx, id := q.e.tx, q.cfg.ID
	b, err := tx.Get(metaKey(id))
	if err != nil {
		return err
	}
	if b == nil { // it was never written to, or else
		k, err := firstKey(tx, id)
		if err == nil && k != nil {
			err = fmt.Errorf("the queue's own: %w", errMissing)
		}
		return err
	}
	if err := q.meta.decode(b); err != nil {
		return err
	}
	var bad error
	lo, hi := tableRange(id, tableReceived)
	err = tx.Scan(lo, hi, func(k, v []byte) bool {
		m, name, err := decodeReceived(Position(tail(k, 0)), v)
		if bad = err; bad != nil {
			return false
		}
		if q.cfg.FIFO {
			m.group = q.hold(name)
		}
		q.track(m)
		if m.deadline <= q.e.now {
			q.show(m)
			return true
		}
		m.inFlight = true
		q.inFlight++
		heap.Push(&q.deadlines, m)
		return true
	})
	if err := firstError(err, bad); err != nil {
		return err
	}
	if q.lineCount()+q.delayed > q.stored {
		return fmt.Errorf("%w: %d messages, of which %d are in the line and %d delayed", ErrDamaged, q.stored, q.lineCount(), q.delayed)
	}
	q.loadReady()
	lo, hi = tableRange(id, tableTask)
	err = tx.Scan(lo, hi, func(_, v []byte) bool {
		var t *MoveTask
		t, bad = decodeMoveTask(v)
		q.tasks = append(q.tasks, t)
		return bad == nil
	})
	if err := firstError(err, bad); err != nil {
		return err
	}
	if q.delayed > 0 {
		_, hi = tableRange(id, tableDelay)
		err = tx.Scan(tableKey(id, tableDelay).instant(q.delayFloor), hi, func(k, _ []byte) bool {
			q.nextDelay = Instant(tail(k, 1))
			return false
		})
		if err == nil && q.nextDelay == never {
			err = fmt.Errorf("delayed messages: %w", errMissing)
		}
	}
	return err
}

// firstKey returns a key of a queue, but for those of its line to other shards,
// or nil if there is none.
func firstKey(r Reader, id ID) (found []byte, err error) {
	from, end := queueRange(id)
	for _, table := range []byte{tableAway, tableDeparture} {
		lo, hi := tableRange(id, table)
		if err = r.Scan(from, lo, func(k, _ []byte) bool { found = slices.Clone(k); return false }); found != nil || err != nil {
			return found, err
		}
		from = hi
	}
	err = r.Scan(from, end, func(k, _ []byte) bool { found = slices.Clone(k); return false })
	return found, err
}

// loadReady puts the groups that can be served into the rota, in the order of
// their first messages: the order before the restart is not written down.
func (q *queue) loadReady() {
	groups := slices.Collect(maps.Values(q.groups))
	slices.SortFunc(groups, func(a, b *group) int { return cmp.Compare(a.held[0].pos, b.held[0].pos) })
	for _, g := range groups {
		q.relist(g)
	}
}

// Begin starts a transaction at now, or at the newest instant seen if that is
// later.
func (e *Engine) Begin(tx Txn, now Instant) {
	e.tx = tx
	e.now = max(e.now, now)
}

// Now returns the engine's time.
func (e *Engine) Now() Instant { return e.now }

// Mark makes the transaction write something even if it changes nothing, so that
// making it durable shows whether the store can be written.
func (e *Engine) Mark() { e.marked = true }

// End writes the records of the queues that have changed and returns the
// queues that the transaction has touched: those in which somebody who waits
// for a message may now find one.
func (e *Engine) End() []ID {
	touched := make([]ID, 0, len(e.visited))
	wrote := e.marked
	e.marked = false
	for _, q := range e.visited {
		touched = append(touched, q.cfg.ID)
		if q.changed {
			e.tx.Set(metaKey(q.cfg.ID), q.meta.encode())
			q.changed = false
			wrote = true
		}
		q.visited = false
		if e.queues[q.cfg.ID] == q {
			// Among the queues that are due, who has had a turn is last.
			e.wakes.set(q, max(q.schedule(), min(q.wakeAt, e.now)))
		}
	}
	e.visited = e.visited[:0]
	for _, a := range e.changed {
		wrote = a.save() || wrote
	}
	e.changed = e.changed[:0]
	if wrote {
		w := newRecord(16)
		w.instant(e.now)
		e.tx.Set(clockKey, w)
	}
	e.tx = nil
	return touched
}

// NextWake returns when Advance has something to do, or a far future.
func (e *Engine) NextWake() Instant {
	if len(e.wakes) == 0 {
		return never
	}
	return e.wakes[0].wakeAt
}

// Advance does what time alone has made due: timeouts, delays, expiry, message
// move tasks. It does a bounded amount of work; if there is more, NextWake is
// not in the future.
func (e *Engine) Advance() error {
	e.work = 0
	for e.work < workAtOnce && e.NextWake() <= e.now {
		e.work++
		q := e.wakes[0]
		if err := q.settle(); err != nil {
			return err
		}
		if err := q.move(); err != nil {
			return err
		}
		// The queue's turn is over for this transaction even if it has more.
		e.wakes.set(q, max(q.schedule(), e.now+1))
	}
	return nil
}

// spend counts the work of moving a message to another queue.
func (e *Engine) spend(m *Message) { e.work += 1 + len(m.Body)>>10 }

// Configure adds a queue or gives it new attributes. A queue that was away can be
// served here from now on, and what waits goes on to where it was to go; one that
// is served here does not go away: that gives ErrElsewhere.
func (e *Engine) Configure(cfg Config) error {
	switch {
	case cfg.Away && e.queues[cfg.ID] != nil:
		return ErrElsewhere
	case cfg.Away && e.away[cfg.ID] == nil:
		e.addAway(cfg)
		return nil
	case cfg.Away:
		return nil // what can change of its attributes matters elsewhere
	}
	if q := e.queues[cfg.ID]; q != nil {
		q.cfg = cfg
		q.nextExpiry = 0
		return q.settle()
	}
	if a := e.away[cfg.ID]; a != nil && a.last == 0 {
		delete(e.away, cfg.ID)
	}
	e.add(cfg)
	return nil
}

func (e *Engine) add(cfg Config) *queue {
	q := newQueue(e, cfg)
	e.queues[cfg.ID] = q
	e.byARN[cfg.ARN] = q
	q.visit()
	return q
}

// Drop removes a queue and all it holds. An unknown queue is none.
func (e *Engine) Drop(id ID) error {
	if a := e.away[id]; a != nil {
		e.dropAway(a)
	}
	q := e.queues[id]
	if q == nil {
		return nil
	}
	if err := q.forgetKept(); err != nil {
		return err
	}
	e.tx.DeleteRange(queueRange(id))
	delete(e.queues, id)
	if e.byARN[q.cfg.ARN] == destination(q) {
		delete(e.byARN, q.cfg.ARN)
	}
	q.visit() // those who wait for its messages are to be told
	q.changed = false
	e.wakes.remove(q)
	return nil
}

// Purge removes all messages of a queue, also those in flight and delayed, and
// forgets its deduplication ids. A second purge within PurgeInterval gives
// ErrPurgeInProgress, unless the queue may be purged at any time. What waits in an away queue can be purged at any time.
func (e *Engine) Purge(id ID) error {
	a := e.away[id]
	if q, err := e.enter(id); err == nil {
		if q.purged != 0 && !q.cfg.PurgeAnytime && e.now < q.purged.Add(PurgeInterval) {
			return ErrPurgeInProgress
		}
		if err := q.purge(); err != nil {
			return err
		}
	} else if a == nil || !IsRefusal(err) {
		return err
	}
	if a != nil {
		a.purge()
	}
	return nil
}

// Counts returns how many messages a queue holds in each state. What waits in an
// away queue is visible, so that it is missing nowhere on its way.
func (e *Engine) Counts(id ID) (Counts, error) {
	a := e.away[id]
	if a != nil && e.queues[id] == nil {
		return Counts{Visible: a.stored}, nil
	}
	q, err := e.enter(id)
	if err != nil {
		return Counts{}, err
	}
	n := q.counts()
	if a != nil {
		n.Visible += a.stored
	}
	return n, nil
}

// Available reports whether a receive from the queue would be answered with
// something: messages, or the refusal that there is no such queue.
func (e *Engine) Available(id ID) bool {
	q := e.queues[id]
	return q == nil || q.available()
}

// enter finds a queue and brings it up to the present.
func (e *Engine) enter(id ID) (*queue, error) {
	q := e.queues[id]
	if q == nil {
		return nil, ErrNoQueue
	}
	return q, q.settle()
}

// wakeHeap orders queues by the instant at which time changes them.
type wakeHeap []*queue

func (h wakeHeap) Len() int { return len(h) }
func (h wakeHeap) Less(i, j int) bool {
	return h[i].wakeAt < h[j].wakeAt || h[i].wakeAt == h[j].wakeAt && h[i].cfg.ID < h[j].cfg.ID
}
func (h wakeHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].wakeIdx, h[j].wakeIdx = i, j
}

func (h *wakeHeap) Push(x any) {
	q := x.(*queue)
	q.wakeIdx = len(*h)
	*h = append(*h, q)
}

func (h *wakeHeap) Pop() any {
	old := *h
	q := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	q.wakeIdx = -1
	return q
}

// set gives q its place; a queue that waits for nothing has none.
func (h *wakeHeap) set(q *queue, at Instant) {
	q.wakeAt = at
	switch {
	case at == never:
		h.remove(q)
	case q.wakeIdx < 0:
		heap.Push(h, q)
	default:
		heap.Fix(h, q.wakeIdx)
	}
}

func (h *wakeHeap) remove(q *queue) {
	if q.wakeIdx >= 0 {
		heap.Remove(h, q.wakeIdx)
	}
}
