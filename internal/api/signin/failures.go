package signin

import (
	"net/netip"
	"sync"
	"time"
)

const (
	// failureWindow is for how long failures count.
	failureWindow = 15 * time.Minute
	// recordedFailures is how many failures of one address become events in that time.
	recordedFailures = 100
	// maxCounted is how many addresses and users failures are counted of.
	maxCounted = 10_000
)

// failures counts who has failed to sign in, and how often.
type failures struct {
	mu sync.Mutex
	of map[string]*failureCount
}

type failureCount struct {
	n     int
	since time.Time
}

func newFailures() *failures { return &failures{of: make(map[string]*failureCount)} }

// note counts a failure and returns how many there were in the window.
func (f *failures) note(of string, now time.Time) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.of[of]
	if c == nil || now.Sub(c.since) >= failureWindow {
		if c == nil && len(f.of) >= maxCounted {
			f.sweep(now)
		}
		c = &failureCount{since: now}
		f.of[of] = c
	}
	c.n++
	return c.n
}

// sweep makes room: what does not count any more goes. If that is not enough, so do those who have failed least often. Who is
// locked out stays so, however many others somebody makes up.
func (f *failures) sweep(now time.Time) {
	for of, c := range f.of {
		if now.Sub(c.since) >= failureWindow {
			delete(f.of, of)
		}
	}
	for least := 1; len(f.of) > maxCounted/2; least++ {
		for of, c := range f.of {
			if c.n <= least {
				delete(f.of, of)
			}
		}
	}
}

// network returns what stands for an address where failures are counted: of IPv6, the network that one machine has for itself.
func network(ip string) string {
	addr, err := netip.ParseAddr(ip)
	if err != nil {
		return ip
	}
	if addr = addr.Unmap().WithZone(""); addr.Is6() {
		if p, err := addr.Prefix(64); err == nil {
			return p.String()
		}
	}
	return addr.String()
}

// undo takes back what was counted last: it was no failure.
func (f *failures) undo(of string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.of[of]; c != nil && c.n > 0 {
		c.n--
	}
}

// forget has nothing count any more.
func (f *failures) forget(of string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, of)
}
