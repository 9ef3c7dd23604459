package login

import (
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// TriesWindow is how long tries count.
	TriesWindow = 15 * time.Minute
	// MostTries is how many wrong passwords of a user are allowed in TriesWindow. Then the user is locked out until the
	// window is over.
	MostTries = 10
	// MostTriesFrom is how many tries one address has, over all users.
	MostTriesFrom = 50
	// maxCounted is the maximum number of addresses and users with counted tries.
	maxCounted = 10_000
)

// Tries counts attempts at passwords and codes. Each attempt counts before it is checked, so that simultaneous attempts
// do not exceed the limit, and is uncounted if it was not a wrong guess.
type Tries struct {
	mu sync.Mutex
	of map[string]*tryCount
}

type tryCount struct {
	n     int
	since time.Time
}

// NewTries returns a Tries without counts.
func NewTries() *Tries { return &Tries{of: make(map[string]*tryCount)} }

// Try is one guess at the password of a user.
type Try struct {
	tries      *Tries
	user, from string
}

// Begin counts a try at the password of a user from an IP address, and reports whether it may be checked. An address
// that has used up its tries does not lock users out.
func (t *Tries) Begin(account, user, ip string, now time.Time) (Try, bool) {
	try := Try{t, "user/" + account + "/" + strings.ToLower(user), "address/" + Network(ip)}
	return try, t.Note(try.from, now) <= MostTriesFrom && t.Note(try.user, now) <= MostTries
}

// GiveBack uncounts the try: it was right, but more is needed.
func (t Try) GiveBack() {
	t.tries.Undo(t.user)
	t.tries.Undo(t.from)
}

// Succeed uncounts the try, and clears wrong guesses at the user's password. Guesses from the address stay counted:
// they may have been at the passwords of others.
func (t Try) Succeed() {
	t.tries.forget(t.user)
	t.tries.Undo(t.from)
}

// Note counts a try and returns the number in the window.
func (t *Tries) Note(of string, now time.Time) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	c := t.of[of]
	if c == nil || now.Sub(c.since) >= TriesWindow {
		if c == nil && len(t.of) >= maxCounted {
			t.sweep(now)
		}
		c = &tryCount{since: now}
		t.of[of] = c
	}
	c.n++
	return c.n
}

// sweep makes room: expired counts go first. If that is not enough, those with the fewest tries go, too. A locked-out
// user stays locked out, however many other names are invented.
func (t *Tries) sweep(now time.Time) {
	for of, c := range t.of {
		if now.Sub(c.since) >= TriesWindow {
			delete(t.of, of)
		}
	}
	for least := 1; len(t.of) > maxCounted/2; least++ {
		for of, c := range t.of {
			if c.n <= least {
				delete(t.of, of)
			}
		}
	}
}

// Undo uncounts the last count: it was not a failure.
func (t *Tries) Undo(of string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.of[of]; c != nil && c.n > 0 {
		c.n--
	}
}

// forget clears all counts.
func (t *Tries) forget(of string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, of)
}

// Network returns the identity of an address for counting: for IPv6, the network that belongs to one machine.
func Network(ip string) string {
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
