package front

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
)

// waiting waits until n claims of a rank wait.
func waiting(t *testing.T, b *budget, r rank, n int) {
	t.Helper()
	eventually.Succeeds(t, func() error {
		b.mu.Lock()
		defer b.mu.Unlock()
		if got := len(b.waiting[r]); got != n {
			return fmt.Errorf("%d wait, want %d", got, n)
		}
		return nil
	})
}

func TestBudget(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	over, cancel := context.WithCancel(ctx)
	cancel()
	b := newBudget(100)
	takes := func(n int64, r rank, want bool) {
		t.Helper()
		if err := b.take(over, n, r); (err == nil) != want || err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("claim %d as %d with %d left: %v", n, r, b.left, err)
		}
	}
	takes(25, unverified, true)
	takes(1, unverified, false)
	takes(25, started, true)
	takes(25, started, true)
	takes(1, started, false)
	takes(20, growing, true)
	takes(6, growing, false)
	takes(5, growing, true)
	b.give(100)

	// Waiters are served in turn, those that have already begun first.
	takes(25, growing, true)
	takes(25, growing, true)
	takes(25, growing, true)
	takes(15, growing, true)
	order := make(chan string, 3)
	wait := func(name string, n int64, r rank, behind int) {
		go func() {
			if err := b.take(ctx, n, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			order <- name
		}()
		waiting(t, b, r, behind)
	}
	wait("new", 10, started, 1)
	wait("large", 20, growing, 1)
	wait("small", 5, growing, 2)
	b.give(11)
	if first := <-order; first != "large" {
		t.Errorf("%s was first", first)
	}
	b.give(4)
	if second := <-order; second != "small" {
		t.Errorf("%s was second", second)
	}
	takes(1, started, false) // "new" comes first
	b.give(35)
	if third := <-order; third != "new" {
		t.Errorf("%s was third", third)
	}
	b.give(90 - 11 - 4 - 35 + 35)
	if used := b.used(); used != 0 {
		t.Errorf("%d of %d are claimed", used, b.size)
	}
}

// A request that gives up lets the requests behind it proceed.
func TestBudgetGivesWay(t *testing.T) {
	t.Parallel()
	b := newBudget(100)
	if err := b.take(context.Background(), 90, growing); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	gone, served := make(chan error, 1), make(chan error, 1)
	go func() { gone <- b.take(ctx, 20, growing) }()
	waiting(t, b, growing, 1)
	go func() { served <- b.take(context.Background(), 10, growing) }()
	waiting(t, b, growing, 2)
	cancel()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("gave up with %v", err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
}

// An account that claims everything leaves something to others, and large requests from one address leave something to
// the account's other addresses. Claims above the fair share let others pass.
func TestBudgetIsDividedFairly(t *testing.T) {
	t.Parallel()
	b := newBudget(1000)
	takes := func(account, address string, r rank, want int64) {
		t.Helper()
		var n int64
		for b.tryFor(&claim{n: 1, rank: r, by: sender{account, address}, large: true}) {
			n++
		}
		if n != want {
			t.Errorf("%s at %s claims %d, want %d", account, address, n, want)
		}
	}
	takes("a", "1", started, 666)
	takes("a", "1", growing, 761-666)
	takes("a", "2", growing, 37)
	takes("b", "1", started, 134)
	takes("b", "1", growing, 19)
	takes("c", "1", growing, 37)

	over := make(chan error, 1)
	go func() {
		over <- b.takeFor(t.Context(), &claim{n: 100, rank: growing, by: sender{"a", "1"}, large: true})
	}()
	waiting(t, b, growing, 1)
	if err := b.takeFor(t.Context(), &claim{n: 5, rank: growing, by: sender{"d", "1"}, large: true}); err != nil {
		t.Error(err)
	}
	b.giveOf(sender{"a", "1"}, 761)
	if err := <-over; err != nil {
		t.Error(err)
	}
	for by, n := range map[sender]int64{
		{"a", "1"}: 100, {"a", "2"}: 37, {"b", "1"}: 153, {"c", "1"}: 37, {"d", "1"}: 5,
	} {
		b.giveOf(by, n)
	}
	if len(b.held) > 0 || b.used() > 0 {
		t.Errorf("%v are held, %d used", b.held, b.used())
	}
}
