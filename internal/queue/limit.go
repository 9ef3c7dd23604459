package queue

import "time"

// Limits bound what the consumers of a queue are given, beside SQS's own limits. A receive that they leave nothing
// gives no messages, and a long poll waits. Deletes are never limited, and the engine keeps no more of it than what
// is in memory: after a restart a rate begins anew.
type Limits struct {
	Paused   bool // receives give nothing
	Rate     Rate // of messages received; zero: as many as there are
	InFlight int  // messages; 0: as many as SQS allows
}

// Rate is a number of messages in a time.
type Rate struct {
	Messages int
	Per      time.Duration
}

// Share returns the part of n shards of a queue, of which i is one, counted from 0. Each may give out one message at
// least.
func (l Limits) Share(i, n int) Limits {
	if n < 2 {
		return l
	}
	if l.InFlight > 0 {
		l.InFlight = max(1, (l.InFlight+n-1-i)/n)
	}
	l.Rate.Per *= time.Duration(n)
	return l
}

// burst is how many messages a rate lets through at once: those of one receive, unless it is less a second.
func (r Rate) burst() int64 {
	const batch = 10
	return max(1, min(batch, int64(time.Duration(r.Messages)*time.Second/r.Per)))
}

// pace is where a rate stands: the instant, in microseconds since 1970, at which all that was let through would have
// been received evenly. It may be ahead of now by as much as a burst takes.
type pace int64

func (r Rate) interval() int64 { return max(1, r.Per.Microseconds()/int64(r.Messages)) }

// left returns how many messages the rate lets through now.
func (p pace) left(r Rate, now Instant) int {
	ahead := max(0, int64(p)-int64(now)*1000)
	return max(0, int((r.burst()*r.interval()-ahead)/r.interval()))
}

// next returns when the rate lets a message through again.
func (p pace) next(r Rate) Instant {
	at := int64(p) - (r.burst()-1)*r.interval()
	return Instant((at + 999) / 1000)
}

// take counts n messages, which may be negative.
func (p *pace) take(r Rate, now Instant, n int) {
	*p = max(*p, pace(now)*1000) + pace(int64(n)*r.interval())
}

// throttle applies the limits of a queue's owner to receives. pace is in memory only: a restart forgets it. The limits
// are those of the attributes at the time of the call, so that a change of them counts at once.
type throttle struct {
	*base
	pace pace // of Limits.Rate
}

// allowed returns how many of most messages the limits let through now, with so many in flight.
func (t *throttle) allowed(most, inFlight int) int {
	l := &t.cfg.Limits
	if l.Paused {
		return 0
	}
	if l.InFlight > 0 {
		most = min(most, max(0, l.InFlight-inFlight))
	}
	if l.Rate.Messages > 0 {
		most = min(most, t.pace.left(l.Rate, t.now))
	}
	return most
}

// count counts messages that were given out, or taken back, for the rate.
func (t *throttle) count(n int) {
	if r := t.cfg.Limits.Rate; r.Messages > 0 && n != 0 {
		t.pace.take(r, t.now, n)
	}
}

// limited returns which limits leave a receive nothing now.
func (t *throttle) limited(inFlight int) (by Limited) {
	l := &t.cfg.Limits
	if l.Paused {
		by |= LimitedByPause
	}
	if l.InFlight > 0 && inFlight >= l.InFlight {
		by |= LimitedByInFlight
	}
	if l.Rate.Messages > 0 && t.pace.left(l.Rate, t.now) == 0 {
		by |= LimitedByRate
	}
	return by
}

// wakeAt returns when the rate lets a message through again, if it is the only limit that leaves a receive nothing, or
// never.
func (t *throttle) wakeAt(inFlight int) Instant {
	if t.limited(inFlight) != LimitedByRate {
		return never
	}
	return t.pace.next(t.cfg.Limits.Rate)
}
