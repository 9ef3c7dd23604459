package queue

// State is what a queue is doing, for the person who wonders why nothing is received.
type State struct {
	Counts
	Receivable  bool    // a receive would be given something now
	OverLimit   bool    // as many messages are in flight as SQS allows
	Limited     Limited // what of the queue's Limits keeps messages from being received now
	Oldest      Instant // when the oldest message was sent; 0: there is none
	NextVisible Instant // when the next visibility timeout ends; 0: nothing is in flight
	NextDelayed Instant // when the next delay ends; 0: nothing is delayed
	ReadyGroups uint64  // that have a message which can be received
	// BlockedGroups are groups of a FIFO queue that have to wait until their first message is deleted or visible again.
	BlockedGroups uint64
	LastSend      Instant // since the engine was loaded; 0: there was none
	LastReceive   Instant // that gave a message
}

// Limited is a set of limits.
type Limited uint8

// The limits.
const (
	LimitedByPause Limited = 1 << iota
	LimitedByInFlight
	LimitedByRate
)

// State returns what a queue is doing, but for Oldest, which Look.Oldest finds.
func (e *Engine) State(id ID) (State, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return State{}, err
	}
	return q.state(), nil
}

// state is State of a queue that is at the present.
func (q *queue) state() State {
	s := State{
		Counts: q.counts(), Receivable: q.available(), OverLimit: q.held.full(), Limited: q.throttle.limited(q.held.inFlight),
		ReadyGroups: uint64(q.groups.ready.Len()) + q.rota.length, BlockedGroups: uint64(len(q.groups.active) - q.groups.ready.Len()),
		LastSend: q.lastSend, LastReceive: q.held.lastReceive,
	}
	if at := q.held.wakeAt(); at != never {
		s.NextVisible = at
	}
	if at := q.delays.wakeAt(); at != never {
		s.NextDelayed = at
	}
	return s
}

// Oldest returns when the oldest stored message was sent, or 0 if there is none. It looks for it in r, which must not change
// meanwhile.
func (l Look) Oldest(r Reader) (Instant, error) {
	var m meta
	if b, err := r.Get(metaKey(l.queue)); b == nil || err != nil {
		return 0, l.failed(err)
	} else if err := m.decode(b); err != nil {
		return 0, l.failed(err)
	}
	oldest := never
	// The line is in order of age, and what was received of it is in front.
	first := Position(0)
	err := r.Scan(receivedKey(l.queue, 0), receivedKey(l.queue, indexedBit), func(k, _ []byte) bool {
		first = Position(tail(k, 0))
		return false
	})
	if err != nil {
		return 0, l.failed(err)
	}
	if first == 0 && m.line.head < m.line.next {
		first = m.line.head
	}
	if first != 0 {
		b, err := r.Get(messageKey(l.queue, first))
		if err == nil && b == nil {
			err = errMissing
		}
		if err == nil {
			oldest, err = sentAt(b)
		}
		if err != nil {
			return 0, l.failed(err)
		}
	}
	sent, err := l.oldestIndexed(r, &m)
	if oldest = min(oldest, sent); oldest == never {
		oldest = 0
	}
	return oldest, l.failed(err)
}

// oldestIndexed returns when the oldest indexed message was sent, or never.
func (l *Look) oldestIndexed(r Reader, m *meta) (oldest Instant, err error) {
	oldest = never
	if !l.fifo {
		_, end := tableRange(l.queue, tableAge)
		err = r.Scan(tableKey(l.queue, tableAge).instant(m.index.floor), end, func(k, _ []byte) bool {
			oldest = Instant(tail(k, 1))
			return false
		})
		return oldest, err
	}
	var bad error
	_, end := tableRange(l.queue, tableMessage)
	err = r.Scan(messageKey(l.queue, max(m.index.head, indexedBit)), end, func(_, v []byte) bool {
		oldest, bad = sentAt(v)
		return false
	})
	return oldest, firstError(err, bad)
}
