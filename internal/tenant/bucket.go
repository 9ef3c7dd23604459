package tenant

import "time"

// saved is the maximum time for which an unused rate accumulates.
const saved = time.Second

// bucket is a token bucket. It fills with time, up to the amount of the time saved, and may be overdrawn. The zero
// bucket is full at its first use.
type bucket struct {
	balance float64
	at      time.Time // of the balance
}

// size returns the capacity of a bucket with that rate, in units per second. It is at least what one request needs.
func size(rate float64) float64 {
	if rate <= 0 {
		return 0
	}
	return max(1, rate*saved.Seconds())
}

// fill updates the bucket to the present. A clock that was set back adds nothing.
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

// has reports whether a request may take something. The request may then take more than there is.
func (b *bucket) has() bool { return b.balance >= 1 }
