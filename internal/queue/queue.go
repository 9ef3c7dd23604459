package queue

// queue is one queue, composed of its parts. Each part knows some of its messages. The queue itself does the work that
// involves several parts:
//
//   - stored counts the messages of the line and the indexed ones. Each of these is in exactly one of groups, delays
//     and held.
//   - The line has messages in standard queues only.
//   - Engine.End writes the queue's record if a part has marked it dirty. Memory then matches the store, except for
//     fields that follow from the clock, and those that tally and rota document.
//   - wakeAt is the earliest wakeAt of the parts, or earlier.
//
// The engine rebuilds from the tables all that is not in the record when it is loaded.
type queue struct {
	base
	e *Engine

	line     line
	index    index
	rota     rota
	groups   groups
	held     held
	delays   delays
	dedup    dedup
	moves    moves
	arrivals arrivals
	throttle throttle
	tally    tally
	kept     kept
	stored   uint64 // messages in the queue, in all states
	purged   Instant

	firstSource int     // the source that the next receive of a standard queue tries first
	nextExpiry  Instant // expire does nothing before, to bound its cost

	lastSend Instant // since the engine was loaded; 0: never
	arrived  Weight  // bytes and messages stored since the engine was loaded

	wakeAt    Instant // when the queue changes by time alone
	wakePlace int     // in Engine.wakes
	announced bool    // internal queues: available, and reported by Engine.Deliverable
}

func newQueue(e *Engine, cfg Config) *queue {
	q := &queue{base: base{transaction: &e.transaction, cfg: cfg}, e: e, wakeAt: never}
	b := &q.base
	q.line, q.index, q.held, q.delays = newLine(b), index{base: b}, newHeld(b), delays{base: b, next: never}
	q.rota = rota{base: b, rotaRecord: rotaRecord{head: 1}}
	q.groups = newGroups(b, &q.rota, e.groupRecords)
	q.moves = moves{base: b, wanting: &e.searches}
	q.throttle, q.arrivals = throttle{base: b}, arrivals{base: b}
	q.dedup, q.tally = newDedup(b, &e.slots), tally{base: b, series: &e.series}
	q.kept = kept{base: b}
	q.held.kept = &q.kept.keptRecord
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
	if err := q.delays.end(q.groups.add); err != nil {
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

// schedule returns when time alone will next change something.
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

// Counts are the numbers of messages in a queue's states.
type Counts struct {
	Visible  uint64 // ApproximateNumberOfMessages
	InFlight uint64 // ApproximateNumberOfMessagesNotVisible
	Delayed  uint64 // ApproximateNumberOfMessagesDelayed
}

func (q *queue) counts() Counts {
	return Counts{
		Visible:  q.stored - q.delays.count - uint64(q.held.inFlight),
		InFlight: uint64(q.held.inFlight),
		Delayed:  q.delays.count,
	}
}

// indexed returns how many indexed messages are stored.
func (q *queue) indexed() uint64 { return q.stored - q.line.count() }

// track adds m to the held messages, not in flight. Messages of the line and of each group must be added in order of
// position.
func (q *queue) track(m *received) {
	q.held.at[m.pos] = m
	if !m.pos.indexed() {
		q.line.hold(m)
	}
	if m.group != nil {
		m.group.hold(m)
	}
}

// endTimeouts makes messages visible whose timeout has ended.
func (q *queue) endTimeouts() {
	for m := q.held.endTimeout(); m != nil; m = q.held.endTimeout() {
		if m.group != nil {
			q.groups.updateReady(m.group)
		}
	}
}

// remove removes m from the queue and from the store. The caller calls groups.release
// for its group.
func (q *queue) remove(m *received) {
	q.held.remove(m)
	if m.group != nil {
		m.group.remove(m)
	}
	q.tx.DeleteOnce(q.key(q.cfg.ID, tableMessage).position(m.pos))
	if m.pos.indexed() {
		q.index.dropAge(m.pos, m.sent)
	} else {
		q.line.release()
	}
	q.stored--
	q.markDirty()
}

// removeAndRelease removes m, and lets its group continue.
func (q *queue) removeAndRelease(m *received) error {
	q.remove(m)
	if m.group == nil {
		return nil
	}
	return q.groups.release(m.group)
}
