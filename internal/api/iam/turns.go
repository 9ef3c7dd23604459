package iam

import (
	"context"
	"sync"

	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// turns lets each account run one simulation at a time. Further requests of the account wait.
type turns struct {
	mu       sync.Mutex
	accounts map[string]*turn
}

// turn belongs to an account with requests in progress.
type turn struct {
	taken    chan struct{} // has an element while a request has the turn
	requests int           // that have the turn or wait for it
}

// mostWaiting is how many requests of an account may have the turn or wait for it.
const mostWaiting = 10

// take waits for the account's turn. It returns a function that ends the turn, or the error of ctx, or
// protocol.Throttled if too many wait already.
func (t *turns) take(ctx context.Context, account string) (done func(), err error) {
	t.mu.Lock()
	own := t.accounts[account]
	if own == nil {
		if t.accounts == nil {
			t.accounts = make(map[string]*turn)
		}
		own = &turn{taken: make(chan struct{}, 1)}
		t.accounts[account] = own
	}
	if own.requests >= mostWaiting {
		t.mu.Unlock()
		return nil, protocol.Throttled()
	}
	own.requests++
	t.mu.Unlock()
	leave := func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if own.requests--; own.requests == 0 {
			delete(t.accounts, account)
		}
	}
	select {
	case own.taken <- struct{}{}:
		return func() { <-own.taken; leave() }, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
