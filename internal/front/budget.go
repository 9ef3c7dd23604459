package front

import (
	"context"
	"slices"
	"sync"
)

// budget is an amount that requests share: bytes of memory, or places. A request takes some of it, and waits until
// there is enough, in order of arrival among those of the same rank.
type budget struct {
	mu      sync.Mutex
	size    int64
	left    int64
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

// claim is the amount that a request waits for.
type claim struct {
	n     int64
	given chan struct{} // closed when the request has it
}

func newBudget(size int64) *budget { return &budget{size: size, left: size} }

// try takes n if that is possible without waiting.
func (b *budget) try(n int64, r rank) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting[r]) > 0 || b.left-n < b.keep(r) {
		return false
	}
	b.left -= n
	return true
}

// take takes n, which must not exceed a quarter of the budget. It returns ctx's error if ctx ends before that much is
// free.
func (b *budget) take(ctx context.Context, n int64, r rank) error {
	if b.try(n, r) {
		return nil
	}
	b.mu.Lock()
	c := &claim{n: n, given: make(chan struct{})}
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

// give returns n to the budget.
func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
	b.serve()
}

// serve gives memory to the waiters for whom there is enough.
func (b *budget) serve() {
	for r := range b.waiting {
		for len(b.waiting[r]) > 0 {
			c := b.waiting[r][0]
			if b.left-c.n < b.keep(rank(r)) {
				break
			}
			b.left -= c.n
			b.waiting[r] = slices.Delete(b.waiting[r], 0, 1)
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
