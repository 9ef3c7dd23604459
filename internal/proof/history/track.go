package history

import (
	"slices"
	"time"
)

// judgeTrack judges a message's stay in one queue.
func (j *judge) judgeTrack(all []*Entry) {
	q := j.queues[all[0].Queue]
	for _, r := range all {
		if r.Operation != Receive {
			continue
		}
		if q.MaxReceives > 0 && r.Receives > q.MaxReceives {
			j.broken("redrive", r, "received %d times, of %d allowed", r.Receives, q.MaxReceives)
		}
		if least := j.leastReceives(r); r.Receives < least {
			j.broken("redrive", r, "moved to the dead-letter queue after %d receives", r.Receives-1)
		}
		for _, x := range all {
			if x == r || x.Outcome != Acknowledged {
				continue
			}
			switch x.Operation {
			case Remove:
				if x.before(r.Call) {
					j.broken("undead", r, "received after its delete was acknowledged")
				}
			case Receive:
				if x.before(r.Call) && x.Receives >= r.Receives {
					j.broken("count", r, "its receive count was %d before and is %d", x.Receives, r.Receives)
				}
				if x.Sequence != r.Sequence || x.Name != r.Name {
					j.broken("identity", r, "%s has sequence number %s and %s", r.ID, x.Sequence, r.Sequence)
				}
				if x.Handle == r.Handle && x.before(r.Call) {
					j.broken("handle", r, "the receipt handle was given out before: %s", x.Handle)
				}
				j.judgeHold(all, x, r)
			case Hide:
				if x.before(r.Call) {
					j.judgeHold(all, x, r)
				}
			}
		}
	}
}

// leastReceives is the least ApproximateReceiveCount that r may have.
func (j *judge) leastReceives(r *Entry) int {
	for _, q := range j.queues {
		if q.Dead == r.Queue {
			return q.MaxReceives + 1
		}
	}
	return 1
}

// judgeHold checks that r did not receive a message that hold, a receive or a change of visibility, had made invisible.
func (j *judge) judgeHold(all []*Entry, hold, r *Entry) {
	timeout := hold.Timeout
	if !hold.before(r.Call) {
		if r.before(hold.Call) {
			return
		}
		timeout = min(timeout, r.Timeout) // whichever of them came first
	}
	from, to := min(hold.Began, r.Began), max(hold.Ended, r.Ended)
	if to < from+timeout-j.Slack && j.untouched(all, hold, r, from, to) {
		j.broken("hold", r, "received while invisible since %v for %v (%s)", hold.Ended, timeout, hold.Handle)
	}
}

// untouched reports whether no delete, no purge and no change of visibility other
// than a and b can have been executed within the span.
func (j *judge) untouched(all []*Entry, a, b *Entry, from, to time.Duration) bool {
	return !j.whole(a.Queue, Purge, from, to) && !slices.ContainsFunc(all, func(x *Entry) bool {
		return x != a && x != b && x.Operation != Receive && x.effective() && x.Ended > from && x.Began < to
	})
}

// mustHold reports whether the receipt handle of e is certain to be that under
// which the message is still in flight.
func (j *judge) mustHold(e *Entry) bool {
	all := j.tracks[track{e.Queue, e.ID}]
	i := slices.IndexFunc(all, func(r *Entry) bool { return r.Operation == Receive && r.Handle == e.Handle })
	if i < 0 {
		return false
	}
	r := all[i]
	return r.before(e.Call) && e.Ended < r.Began+r.Timeout-j.Slack && j.untouched(all, r, e, r.Began, e.Ended)
}
