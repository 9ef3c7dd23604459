package replica

import "time"

// base is what the parts of a machine share: the time of the event, the times of the protocol, and the effects with
// their tickets.
type base struct {
	timing
	effects effects
	now     time.Time // of the event
	ticket  uint64    // the last ticket issued
}

// newTicket returns a number that no effect has had. A ticket is the number of an effect in progress. The machine
// ignores answers whose ticket is no longer in any field: they are late.
func (b *base) newTicket() uint64 {
	b.ticket++
	return b.ticket
}

// isDue reports whether a time has come.
func (b *base) isDue(t time.Time) bool { return !b.now.Before(t) }

// timing holds the times of the protocol. The comment of the node's timing.go shows how they relate.
type timing struct {
	ttl        time.Duration // of the lease
	margin     time.Duration // how long before the end of its lease an owner stops answering from memory
	lookEvery  time.Duration // interval of checks of the lease
	probeEvery time.Duration // interval of checks of the log's extent
	again      time.Duration // from a failure to the next attempt
	giveUp     time.Duration // how long the outcome of an append may stay unknown
}

// aligned returns the next time that is a multiple of an interval by the wall clock. So the replicas of a process wake
// up together, and renew their leases with one message.
func aligned(now time.Time, every time.Duration) time.Time {
	rest := time.Duration(now.UnixNano() % int64(every))
	if rest < 0 {
		rest += every
	}
	return now.Add(every - rest)
}

// soonest returns the earliest of some times. A zero time does not count: nothing is due then.
func soonest(times ...time.Time) (first time.Time) {
	for _, t := range times {
		if !t.IsZero() && (first.IsZero() || t.Before(first)) {
			first = t
		}
	}
	return first
}
