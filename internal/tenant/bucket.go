package tenant

import "time"

// saved is the time for which a rate is saved up at most.
const saved = time.Second

// bucket holds what may be taken at a rate. It gets more with time, up to what the rate gives in the time saved, and
// may be overdrawn. The zero bucket is full when it is first used.
type bucket struct {
	balance float64
	at      time.Time // of the balance
}

// size is how much a bucket of that rate, in units a second, holds. It is no less than one request needs.
func size(rate float64) float64 {
	if rate <= 0 {
		return 0
	}
	return max(1, rate*saved.Seconds())
}

// fill brings the bucket to the present. A clock that was set back gives nothing.
func (b *bucket) fill(rate float64, now time.Time) {
	if b.at.IsZero() {
		b.balance, b.at = size(rate), now
		return
	}
	if passed := now.Sub(b.at); passed > 0 {
		b.balance += rate * passed.Seconds()
		b.at = now
	}
	b.balance = min(b.balance, size(rate))
}

// has reports whether a request may take something. It may then take more than there is.
func (b *bucket) has() bool { return b.balance >= 1 }
