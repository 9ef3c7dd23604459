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
		Counts: q.counts(), Receivable: q.available(), OverLimit: q.held.full(),
		Limited:       q.throttle.limited(q.held.inFlight),
		ReadyGroups:   uint64(q.groups.ready.Len()) + q.rota.length,
		BlockedGroups: q.groups.blocked(),
		LastSend:      q.lastSend, LastReceive: q.held.lastReceive,
	}
	if at := q.held.wakeAt(); at != never {
		s.NextVisible = at
	}
	if at := q.delays.wakeAt(); at != never {
		s.NextDelayed = at
	}
	return s
}
