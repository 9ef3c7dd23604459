package queue

import "time"

// Limits restrict the deliveries of a queue, in addition to SQS's own limits. A receive beyond them returns no
// messages, and a long poll waits. Deletes are never limited. The engine keeps the state of a rate in memory only: it
// starts over after a restart.
type Limits struct {
	Paused   bool // receives return no messages
	Rate     Rate // of messages received; zero: no limit
	InFlight int  // messages; 0: SQS's own limit
}

// Rate is a number of messages per unit of time.
type Rate struct {
	Messages int
	Per      time.Duration
}

// Share returns the limits of shard i of n, counted from 0. Each shard may deliver at least one message.
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

// burst is how many messages a rate allows at once: as many as one receive can return, or fewer if the rate per second
// is lower.
func (r Rate) burst() int64 {
	const batch = 10
	return max(1, min(batch, int64(time.Duration(r.Messages)*time.Second/r.Per)))
}

// pace is the state of a rate: the instant, in microseconds since 1970, at which all messages so far would have been
// received at an even rate. It may be ahead of now by the duration of a burst.
type pace int64

func (r Rate) interval() int64 { return max(1, r.Per.Microseconds()/int64(r.Messages)) }

// left returns how many messages the rate allows now.
func (p pace) left(r Rate, now Instant) int {
	ahead := max(0, int64(p)-int64(now)*1000)
	return max(0, int((r.burst()*r.interval()-ahead)/r.interval()))
}

// next returns when the rate allows the next message.
func (p pace) next(r Rate) Instant {
	at := int64(p) - (r.burst()-1)*r.interval()
	return Instant((at + 999) / 1000)
}

// take counts n messages, which may be negative.
func (p *pace) take(r Rate, now Instant, n int) {
	*p = max(*p, pace(now)*1000) + pace(int64(n)*r.interval())
}

// throttle applies the limits of a queue's owner to receives. pace is only in memory: a restart clears it. The
// attributes are read at each call, so a change of the limits takes effect at once.
type throttle struct {
	*base
	pace pace // of Limits.Rate
}

// allowed returns how many messages the limits allow now, at most most.
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

// count counts delivered or returned messages for the rate.
func (t *throttle) count(n int) {
	if r := t.cfg.Limits.Rate; r.Messages > 0 && n != 0 {
		t.pace.take(r, t.now, n)
	}
}

// limited returns the limits that prevent any delivery now.
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

// wakeAt returns when the rate allows a message again if it is the only limit that prevents deliveries, or else never.
func (t *throttle) wakeAt(inFlight int) Instant {
	if t.limited(inFlight) != LimitedByRate {
		return never
	}
	return t.pace.next(t.cfg.Limits.Rate)
}
