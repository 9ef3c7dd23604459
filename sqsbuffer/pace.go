package sqsbuffer

import "time"

// A pace counts the messages that callers took in about the last period. Messages that were received ahead and not
// taken in time were received for nothing, and count against the redrive policy of the queue; so not more are kept than
// are taken in half a visibility timeout.
type pace struct {
	since         time.Time // when the period began
	last, current int       // of the period before, and of this one
}

func (p *pace) add(now time.Time, period time.Duration, n int) {
	p.turn(now, period)
	p.current += n
}

// count is the number taken in the period before now, as if at an even pace.
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
