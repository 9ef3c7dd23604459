package queue

// State describes a queue for a person who wants to know why receives return nothing.
type State struct {
	Counts
	Receivable  bool    // a receive would return messages now
	OverLimit   bool    // as many messages are in flight as SQS allows
	Limited     Limited // the queue's Limits that prevent deliveries now
	Oldest      Instant // when the oldest message was sent; 0: there is none
	NextVisible Instant // when the next visibility timeout ends; 0: nothing is in flight
	NextDelayed Instant // when the next delay ends; 0: nothing is delayed
	ReadyGroups uint64  // that can be served
	// BlockedGroups is the number of groups of a FIFO queue that wait until their first message is deleted or visible
	// again.
	BlockedGroups uint64
	LastSend      Instant // since the engine was loaded; 0: there was none
	LastReceive   Instant // that returned a message
}

// Limited is a set of limits.
type Limited uint8

// The limits.
const (
	LimitedByPause Limited = 1 << iota
	LimitedByInFlight
	LimitedByRate
)

// State returns the state of a queue, except Oldest, which Look.Oldest finds.
func (e *Engine) State(id ID) (State, error) {
	q, err := e.queueAtPresent(id)
	if err != nil {
		return State{}, err
	}
	return q.state(), nil
}

// state returns the State of a queue in which no work is due.
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
