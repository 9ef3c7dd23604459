package sqsbuffer

import "time"

// A pace counts the messages that callers took in about the last period. A prefetched message that no caller takes in
// time was received for nothing, and counts towards the queue's redrive policy. So the client keeps no more messages
// than callers take in half a visibility timeout.
type pace struct {
	since         time.Time // when the period began
	last, current int       // of the previous period, and of this one
}

func (p *pace) add(now time.Time, period time.Duration, n int) {
	p.turn(now, period)
	p.current += n
}

// count returns the number taken in the period before now, assuming an even pace.
func (p *pace) count(now time.Time, period time.Duration) int {
	p.turn(now, period)
	left := period - now.Sub(p.since)
	return p.current + int(float64(p.last)*float64(left)/float64(period)+0.5)
}

// turn begins a new period when one has passed.
func (p *pace) turn(now time.Time, period time.Duration) {
	switch age := now.Sub(p.since); {
	case age >= 2*period:
		p.since, p.last, p.current = now, 0, 0
	case age >= period:
		p.since, p.last, p.current = p.since.Add(period), p.current, 0
	}
}
