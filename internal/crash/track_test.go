package crash

import (
	"slices"
	"time"
)

// judgeTrack looks at a message's stay in one queue.
func (j *judge) judgeTrack(all []*entry) {
	q := j.specs[all[0].queue]
	for _, r := range all {
		if r.operation != opReceive {
			continue
		}
		if q.maxReceives > 0 && r.receives > q.maxReceives {
			j.broken("redrive", r, "received %d times, of %d allowed", r.receives, q.maxReceives)
		}
		if least := j.leastReceives(r); r.receives < least {
			j.broken("redrive", r, "moved to the dead-letter queue after %d receives", r.receives-1)
		}
		for _, x := range all {
			if x == r || x.outcome != acknowledged {
				continue
			}
			switch x.operation {
			case opRemove:
				if x.before(r.call) {
					j.broken("undead", r, "received after its delete was acknowledged")
				}
			case opReceive:
				if x.before(r.call) && x.receives >= r.receives {
					j.broken("count", r, "its receive count was %d before and is %d", x.receives, r.receives)
				}
				if x.sequence != r.sequence || x.name != r.name {
					j.broken("identity", r, "%s has sequence number %s and %s", r.id, x.sequence, r.sequence)
				}
				if x.handle == r.handle && x.before(r.call) {
					j.broken("handle", r, "the receipt handle was given out before: %s", x.handle)
				}
				j.judgeHold(all, x, r)
			case opHide:
				if x.before(r.call) {
					j.judgeHold(all, x, r)
				}
			}
		}
	}
}

// leastReceives is the least ApproximateReceiveCount that r may have.
func (j *judge) leastReceives(r *entry) int {
	for _, q := range j.specs {
		if q.dead == r.queue {
			return q.maxReceives + 1
		}
	}
	return 1
}

// judgeHold makes sure that r did not receive a message that hold, a receive or
// a change of visibility, had made invisible.
func (j *judge) judgeHold(all []*entry, hold, r *entry) {
	timeout := hold.timeout
	if !hold.before(r.call) {
		if r.before(hold.call) {
			return
		}
		timeout = min(timeout, r.timeout) // whichever of them came first
	}
	from, to := min(hold.began, r.began), max(hold.ended, r.ended)
	if to < from+timeout-slack && j.untouched(all, hold, r, from, to) {
		j.broken("hold", r, "received while invisible since %v for %v (%s)", hold.ended, timeout, hold.handle)
	}
}

// untouched reports whether no delete, no purge and no change of visibility other
// than a and b can have been executed within the span.
func (j *judge) untouched(all []*entry, a, b *entry, from, to time.Duration) bool {
	return !j.whole(a.queue, opPurge, from, to) && !slices.ContainsFunc(all, func(x *entry) bool {
		return x != a && x != b && x.operation != opReceive && x.effective() && x.ended > from && x.began < to
	})
}

// mustHold reports whether the receipt handle of e is certain to be that under
// which the message is still in flight.
func (j *judge) mustHold(e *entry) bool {
	all := j.tracks[track{e.queue, e.id}]
	i := slices.IndexFunc(all, func(r *entry) bool { return r.operation == opReceive && r.handle == e.handle })
	if i < 0 {
		return false
	}
	r := all[i]
	return r.before(e.call) && e.ended < r.began+r.timeout-slack && j.untouched(all, r, e, r.began, e.ended)
}
