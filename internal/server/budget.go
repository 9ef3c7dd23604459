package server

import (
	"context"
	"slices"
	"sync"
)

// budget is an amount of memory that many requests share. Whoever wants some of
// it waits until there is enough, first come first served among those of the
// same rank.
type budget struct {
	mu      sync.Mutex
	size    int64
	left    int64
	waiting [ranks][]*claim
}

// rank says how much of the budget must stay for others. Without it, requests
// that have begun and wait for each other could hold all of it, and a few that
// nobody will vouch for could keep everybody else out.
type rank int

const (
	goingOn   rank = iota // has begun: finishing it frees memory
	beginning             // leaves a quarter to those who have begun
	stranger              // leaves three quarters to those who have named a key of ours
	ranks
)

func (b *budget) keep(r rank) int64 {
	switch r {
	case beginning:
		return b.size / 4
	case stranger:
		return b.size / 4 * 3
	}
	return 0
}

// claim is somebody who waits for memory.
type claim struct {
	n     int64
	given chan struct{} // closed when it has it
}

func newBudget(size int64) *budget { return &budget{size: size, left: size} }

// take takes n bytes, which must not be more than a quarter of the budget. It
// returns ctx's error if they do not become free before ctx ends.
func (b *budget) take(ctx context.Context, n int64, r rank) error {
	b.mu.Lock()
	if len(b.waiting[r]) == 0 && b.left-n >= b.keep(r) {
		b.left -= n
		b.mu.Unlock()
		return nil
	}
	c := &claim{n: n, given: make(chan struct{})}
	b.waiting[r] = append(b.waiting[r], c)
	b.mu.Unlock()
	select {
	case <-c.given:
		return nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	select {
	case <-c.given: // in the last moment
		return nil
	default:
		i := slices.Index(b.waiting[r], c)
		b.waiting[r] = slices.Delete(b.waiting[r], i, i+1)
		b.serve() // those behind it may want less
		return context.Cause(ctx)
	}
}

// give gives n bytes back.
func (b *budget) give(n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left += n
	b.serve()
}

// serve lets those go on for whom there is enough.
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
