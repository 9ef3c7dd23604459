package login

import (
	"net/netip"
	"strings"
	"sync"
	"time"
)

const (
	// TriesWindow is for how long tries count.
	TriesWindow = 15 * time.Minute
	// MostTries is how often a user's password can be tried in TriesWindow, right ones aside. Then the user is locked
	// out until the window is over.
	MostTries = 10
	// MostTriesFrom is how often one address can try, all users together.
	MostTriesFrom = 50
	// maxCounted is how many addresses and users tries are counted of.
	maxCounted = 10_000
)

// Tries counts who has tried a password or the like, and how often. Each try counts before it is looked at, so that
// many at a time are not more, and is given back when it was no wrong guess.
type Tries struct {
	mu sync.Mutex
	of map[string]*tryCount
}

type tryCount struct {
	n     int
	since time.Time
}

// NewTries returns a Tries that has counted nothing.
func NewTries() *Tries { return &Tries{of: make(map[string]*tryCount)} }

// Try is one guess at the password of a user.
type Try struct {
	tries      *Tries
	user, from string
}

// Begin counts a try at the password of a user, which comes from an IP address, and reports whether it may be looked
// at. An address that has had its tries does not lock users out.
func (t *Tries) Begin(account, user, ip string, now time.Time) (Try, bool) {
	try := Try{t, "user/" + account + "/" + strings.ToLower(user), "address/" + Network(ip)}
	return try, t.Note(try.from, now) <= MostTriesFrom && t.Note(try.user, now) <= MostTries
}

// GiveBack takes the try back: what was tried was right, but more is needed.
func (t Try) GiveBack() {
	t.tries.Undo(t.user)
	t.tries.Undo(t.from)
}

// Succeed takes the try back, and forgets wrong guesses at the user's password. Those of the address stay: they may
// have been at the passwords of others.
func (t Try) Succeed() {
	t.tries.forget(t.user)
	t.tries.Undo(t.from)
}

// Note counts a try and returns how many there were in the window.
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

// sweep makes room: what does not count any more goes. If that is not enough, so do those who have tried least often. A
// user who is locked out stays so, however many other names are made up.
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

// Undo takes back what was counted last: it was no failure.
func (t *Tries) Undo(of string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.of[of]; c != nil && c.n > 0 {
		c.n--
	}
}

// forget has nothing count any more.
func (t *Tries) forget(of string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.of, of)
}

// Network returns what stands for an address where tries are counted: of IPv6, the network that one machine has for
// itself.
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
