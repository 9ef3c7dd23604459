package queue

// queue is one queue: its messages, and the parts for deduplication, move tasks, counters and limits. The queue itself
// does the work that involves several parts:
//
//   - Engine.End writes the queue's record if a part has marked it dirty. Memory then matches the store, except for
//     fields that follow from the clock, and those that tally and rota document.
//   - wakeAt is the earliest wakeAt of the parts, or earlier.
//
// When the engine is loaded, it rebuilds from the tables all state that is not in the record.
type queue struct {
	base
	e *Engine

	messages
	dedup    dedup
	moves    moves
	arrivals arrivals
	throttle throttle
	tally    tally
	kept     kept
	purged   Instant

	firstSource int     // the source that the next receive of a standard queue tries first
	nextExpiry  Instant // expire does nothing before, to bound its cost

	lastSend Instant // since the engine was loaded; 0: never

	wakeAt    Instant // when the next work of advance is due
	wakePlace int     // in Engine.wakes
	announced bool    // internal queues: available, and reported by Engine.Deliverable
}

func newQueue(e *Engine, cfg Config) *queue {
	q := &queue{base: base{transaction: &e.transaction, cfg: cfg}, e: e, wakeAt: never}
	b := &q.base
	q.messages.init(b, e.groupRecords)
	q.moves = moves{base: b, wanting: &e.searches}
	q.throttle, q.arrivals = throttle{base: b}, arrivals{base: b}
	q.dedup, q.tally = newDedup(b, &e.slots), tally{base: b, series: &e.series}
	q.kept = kept{base: b}
	q.held.kept = &q.kept
	return q
}

// advance does the work of the queue that has become due with time. It does a limited amount of work; if more is left,
// the queue's wake-up is due at once, and the engine continues then.
func (q *queue) advance() error {
	q.touch()
	if err := q.endMinute(); err != nil {
		return err
	}
	if err := q.groups.followPauses(); err != nil {
		return err
	}
	if err := q.advanceKept(); err != nil {
		return err
	}
	q.endTimeouts()
	if err := q.expire(); err != nil {
		return err
	}
	if err := q.endDelays(); err != nil {
		return err
	}
	q.dedup.dropOld()
	if q.groups.mixed && q.stored == 0 && !q.kept.undoes() {
		q.groups.mixed = false
		q.markDirty()
	}
	return nil
}

// available reports whether a receive would return messages.
func (q *queue) available() bool { return q.holds() && q.throttle.allowed(1, q.held.inFlight) > 0 }

// holds reports whether there is a message that a receive could deliver without Limits.
func (q *queue) holds() bool {
	if q.held.full() || q.cfg.FIFO && q.kept.undoes() {
		return false
	}
	if q.held.returned.Len() > 0 || q.groups.ready.Len() > 0 {
		return true
	}
	return q.roomForNew(1) > 0 && (q.rota.length > 0 || q.line.waiting() > 0)
}

// announce reports an internal queue that has become available.
func (q *queue) announce() {
	if !q.cfg.Internal {
		return
	}
	available := q.available()
	if available && !q.announced {
		q.e.deliverable = append(q.e.deliverable, q.cfg.ID)
	}
	q.announced = available
}

// schedule returns when the next work of advance is due.
func (q *queue) schedule() Instant {
	at := min(q.held.wakeAt(), q.delays.wakeAt(), q.dedup.wakeAt(), q.moves.wakeAt(), q.tally.wakeAt(), q.kept.wakeAt())
	if paced := q.throttle.wakeAt(q.held.inFlight); paced < at && q.holds() {
		at = paced
	}
	if q.groups.pausesChanged {
		at = q.now
	}
	if floor := q.floor(); floor != never {
		at = min(at, max(floor.Add(q.cfg.Retention), q.nextExpiry))
	}
	return at
}
