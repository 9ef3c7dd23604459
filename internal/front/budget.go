package front

import (
	"context"
	"slices"
	"sync"
)

// budget is an amount that requests share: bytes of memory, or slots. A request takes some of it, and waits until there
// is enough, in order of arrival among requests of the same rank.
type budget struct {
	mu      sync.Mutex
	size    int64
	left    int64
	held    map[sender]int64 // by account, and by account and address; no entries of 0
	waiting [ranks][]*claim
}

// rank sets how much of the budget must stay for others. Without ranks, started requests that wait for each other could
// hold all of it, and a few unknown clients could keep all others out.
type rank int

const (
	growing    rank = iota // the request holds some already: finishing it frees that
	started                // leaves a quarter to requests that grow
	unverified             // leaves three quarters to requests that name a known access key
	ranks
)

func (b *budget) keep(r rank) int64 {
	switch r {
	case started:
		return b.size / 4
	case unverified:
		return b.size / 4 * 3
	}
	return 0
}

// sender is the apparent sender of a request: the account whose access key it names, and the address of the client. The
// zero sender is unknown.
type sender struct{ account, address string }

// timesLeft limits the amount that a sender may hold, as a multiple of the remaining amount: for an account the rest of
// the budget, for an address the rest of its account's share. So some always remains for others; otherwise a few slow
// bodies could block all senders. Bodies arrive before their signature can be verified, so the account may be innocent;
// therefore the address counts, too.
const timesLeft = 4

// times returns timesLeft of an address. New requests leave some to those that have started before.
func (r rank) times() int64 {
	if r == started {
		return 1
	}
	return timesLeft
}

// claim is the amount that a request wants.
type claim struct {
	n     int64
	rank  rank
	by    sender
	large bool          // the address has a limit, too
	given chan struct{} // closed when the request has it
}

func newBudget(size int64) *budget {
	return &budget{size: size, left: size, held: make(map[sender]int64)}
}

// try takes n for an unknown sender if that is possible without waiting.
func (b *budget) try(n int64, r rank) bool { return b.tryFor(&claim{n: n, rank: r}) }

func (b *budget) tryFor(c *claim) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting[c.rank]) > 0 || !b.suffices(c) || !b.isFair(c) {
		return false
	}
	b.hold(c.by, c.n)
	return true
}

// isFair reports whether enough is left for others when a claim is met.
func (b *budget) isFair(c *claim) bool {
	if c.by.account == "" {
		return true
	}
	free := timesLeft*(b.left-c.n) - b.held[sender{account: c.by.account}] - c.n
	return free >= 0 && (!c.large || b.held[c.by]+c.n <= c.rank.times()*free)
}

// suffices reports whether there is enough for a claim after the reserve that its rank must leave for others. Known
// senders also stay within their fair shares.
func (b *budget) suffices(c *claim) bool {
	if c.by.account != "" {
		return b.left >= c.n
	}
	return b.left-c.n >= b.keep(c.rank)
}

// hold takes n for a sender, or gives it back if n is negative.
func (b *budget) hold(by sender, n int64) {
	b.left -= n
	if by.account == "" {
		return
	}
	for _, s := range [...]sender{{account: by.account}, by} {
		if b.held[s] += n; b.held[s] == 0 {
			delete(b.held, s)
		}
	}
}

// take takes n for an unknown sender; see takeFor.
func (b *budget) take(ctx context.Context, n int64, r rank) error {
	return b.takeFor(ctx, &claim{n: n, rank: r})
}

// takeFor meets a claim of at most a quarter of the budget. It returns ctx's error if ctx ends before that much is
// free.
func (b *budget) takeFor(ctx context.Context, c *claim) error {
	if b.tryFor(c) {
		return nil
	}
	r := c.rank
	b.mu.Lock()
	c.given = make(chan struct{})
	b.waiting[r] = append(b.waiting[r], c)
	b.serve() // it may have become free since
	b.mu.Unlock()
	select {
	case <-c.given:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.given: // at the last moment
		return nil
	default:
		i := slices.Index(b.waiting[r], c)
		b.waiting[r] = slices.Delete(b.waiting[r], i, i+1)
		b.serve() // those behind it may want less
		return context.Cause(ctx)
	}
}

// give returns n of an unknown sender to the budget.
func (b *budget) give(n int64) { b.giveOf(sender{}, n) }

// giveOf returns n of a sender to the budget.
func (b *budget) giveOf(by sender, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.hold(by, -n)
	b.serve()
}

// serve gives memory to waiters for which there is enough. Senders that hold too much let others pass.
func (b *budget) serve() {
	for r := range b.waiting {
		for i := 0; i < len(b.waiting[r]); {
			c := b.waiting[r][i]
			if !b.isFair(c) {
				i++
				continue
			}
			if !b.suffices(c) {
				break
			}
			b.hold(c.by, c.n)
			b.waiting[r] = slices.Delete(b.waiting[r], i, i+1)
			close(c.given)
		}
	}
}

// used returns how much of the budget is taken.
func (b *budget) used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size - b.left
}
