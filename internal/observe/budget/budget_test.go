package budget_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"

	"github.com/sluicemq/sluice/internal/observe/budget"
)

func excess(t *testing.T, err error, of string) {
	t.Helper()
	e, ok := errors.AsType[*budget.Excess](err)
	if !ok || e.Of != of {
		t.Errorf("%v, want an excess of %s", err, of)
	}
}

func TestWorkIsCountedBeforeItIsDone(t *testing.T) {
	ctx, end := budget.New(1000).Begin(t.Context(), "a")
	defer end()
	r := budget.Of(ctx)
	if err := r.Work(budget.MaxWork); err != nil {
		t.Error(err)
	}
	excess(t, r.Work(1), "samples")
	excess(t, r.Work(math.MaxInt), "samples")
	excess(t, r.Work(-1), "samples")
}

// No request gets more than half, and its share is free when it ends.
func TestOneRequest(t *testing.T) {
	b := budget.New(1000)
	ctx, end := b.Begin(t.Context(), "a")
	r := budget.Of(ctx)
	excess(t, r.Hold(501), "bytes of memory")
	excess(t, r.Hold(math.MaxInt), "bytes of memory")
	excess(t, r.Hold(-1), "bytes of memory")
	for _, n := range []int{300, 200} {
		if err := r.Hold(n); err != nil {
			t.Error(err)
		}
	}
	excess(t, r.Hold(1), "bytes of memory")
	r.Release(100)
	if b.Held() != 400 || r.Held() != 400 {
		t.Errorf("%d held in all, %d by the request", b.Held(), r.Held())
	}
	end()
	if b.Held() != 0 {
		t.Errorf("%d bytes are held after the end", b.Held())
	}
}

// An account with many requests leaves room for the next account, however many there are.
func TestAccountsShare(t *testing.T) {
	b := budget.New(1 << 20)
	took := make(map[string]int)
	for _, account := range []string{"a", "b", "c", "d"} {
		for range 100 {
			ctx, end := b.Begin(t.Context(), account)
			defer end()
			for budget.Of(ctx).Hold(1024) == nil {
				took[account] += 1024
			}
		}
	}
	for account, least := range map[string]int{"a": 1 << 19, "b": 1 << 18, "c": 1 << 17, "d": 1 << 16} {
		if took[account] < least-2048 || took[account] > least {
			t.Errorf("%s took %d bytes, want about %d", account, took[account], least)
		}
	}
	ctx, end := b.Begin(t.Context(), "a")
	defer end()
	if err := budget.Of(ctx).Hold(1024); !errors.Is(err, budget.ErrBusy) {
		t.Errorf("%v, want ErrBusy", err)
	}
}

func TestRequestsEndWithTheirClients(t *testing.T) {
	parent, cancel := context.WithCancel(t.Context())
	ctx, end := budget.New(1000).Begin(parent, "a")
	defer end()
	cancel()
	if err := budget.Of(ctx).Work(1); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestWithoutRequestThereIsNoBound(t *testing.T) {
	r := budget.Of(t.Context())
	if err := errors.Join(r.Work(math.MaxInt), r.Hold(math.MaxInt)); err != nil {
		t.Error(err)
	}
	r.Release(1)
}

// Requests of an account that work long wait for each other, but not for those of other accounts. Short ones never
// wait.
func TestLongRequestsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1000)
		begin := func(account string, work int) (done *bool, end func()) {
			ctx, end := b.Begin(t.Context(), account)
			done = new(bool)
			go func() { *done = budget.Of(ctx).Work(work) == nil }()
			synctest.Wait()
			return done, end
		}
		var ends []func()
		for range budget.AtOnce() {
			done, end := begin("a", budget.Light+1)
			if ends = append(ends, end); !*done {
				t.Fatal("a request waits, though its account has no others")
			}
		}
		long, endLong := begin("a", budget.Light+1)
		short, endShort := begin("a", budget.Light)
		other, endOther := begin("b", budget.Light+1)
		if *long || !*short || !*other {
			t.Errorf("long %t, short %t, of another account %t", *long, *short, *other)
		}
		endShort()
		endOther()
		ends[0]()
		if synctest.Wait(); !*long {
			t.Error("a request still waits after another one has ended")
		}
		endLong()
		for _, end := range ends[1:] {
			end()
		}
	})
}

func TestDecodedRecordsAreWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := budget.New(1000)
		for range budget.AtOnce() {
			ctx, end := b.Begin(t.Context(), "a")
			defer end()
			r := budget.Of(ctx)
			if err := r.Decode(budget.Light / 50); err != nil || r.Worked() != budget.Light/50 {
				t.Error(r.Worked(), err)
			}
		}
		ctx, end := b.Begin(t.Context(), "a")
		defer end()
		waits := true
		go func() { _ = budget.Of(ctx).Decode(budget.Light / 50); waits = false }()
		if synctest.Wait(); !waits {
			t.Error("more requests decode records than half of the processors can")
		}
	})
}
