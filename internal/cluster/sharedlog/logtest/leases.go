package logtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
)

// TestLeases tests the leases that open returns, with which the test is alone.
// Their length should be short: some of the tests wait until one has run out.
func TestLeases(t *testing.T, open func(t *testing.T) sharedlog.Leases) {
	for _, c := range []struct {
		name string
		test func(t *testing.T, l leases)
	}{
		{"take, and see it held", testTake},
		{"one of many takers wins", testTakers},
		{"renew", testRenew},
		{"run out", testRunOut},
		{"release", testRelease},
		{"list", testList},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			c.test(t, leases{t, ctx, open(t)})
		})
	}
}

type leases struct {
	t *testing.T
	// it lives as long as its test
	ctx context.Context
	sharedlog.Leases
}

// take takes a lease. After an indefinite answer it tries again, and waits until its own lease, which it may hold
// without knowing it, has run out.
func (l leases) take(name, value string) sharedlog.Lease {
	l.t.Helper()
	for unknown := false; ; {
		lease, err := l.Take(l.ctx, name, []byte(value))
		held := errors.Is(err, sharedlog.ErrHeld)
		switch {
		case err == nil:
			return lease
		case held && !unknown, l.ctx.Err() != nil:
			l.t.Fatalf("take %s: %v", name, err)
		case held:
			time.Sleep(5 * time.Millisecond)
		default:
			unknown = true
		}
	}
}

// listed waits until exactly these leases are listed: a list may be behind. Those
// in held are renewed meanwhile.
func (l leases) listed(want map[string]string, held map[string]sharedlog.Lease) {
	l.t.Helper()
	for {
		for name, lease := range held {
			if err := lease.Renew(l.ctx, []byte(want[name])); err != nil {
				l.t.Fatalf("renew %s: %v", name, err)
			}
		}
		values, err := l.List(l.ctx)
		got := make(map[string]string)
		for name, value := range values {
			got[name] = string(value)
		}
		if err == nil && maps.Equal(got, want) {
			return
		}
		select {
		case <-l.ctx.Done():
			l.t.Fatalf("the list is %v, %v; not %v", got, err, want)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

func testTake(t *testing.T, l leases) {
	if l.TTL() <= 0 {
		t.Fatalf("leases last for %v", l.TTL())
	}
	l.take("shard/1", "a")
	for range 2 {
		if _, err := l.Take(l.ctx, "shard/1", []byte("b")); !errors.Is(err, sharedlog.ErrHeld) {
			t.Errorf("taken twice: %v", err)
		}
	}
	l.take("shard/2", "b")
	l.take("shard/11", "c")
	l.take("node/a.example-1", "d")
}

func testTakers(t *testing.T, l leases) {
	var won atomic.Int32
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			_, err := l.Take(l.ctx, "shard/1", fmt.Appendf(nil, "taker %d", n))
			if err == nil {
				won.Add(1)
			} else if !errors.Is(err, sharedlog.ErrHeld) {
				t.Errorf("taker %d: %v", n, err)
			}
		})
	}
	all.Wait()
	if won.Load() != 1 {
		t.Errorf("%d takers have it", won.Load())
	}
}

func testRenew(t *testing.T, l leases) {
	lease := l.take("shard/1", "0")
	for start, n := time.Now(), 1; time.Since(start) < l.TTL()*3/2; n++ {
		value := fmt.Sprint(n)
		if err := lease.Renew(l.ctx, []byte(value)); err != nil {
			t.Fatalf("renewal %d: %v", n, err)
		}
		if _, err := l.Take(l.ctx, "shard/1", nil); !errors.Is(err, sharedlog.ErrHeld) {
			t.Fatalf("after renewal %d another holder takes it: %v", n, err)
		}
		time.Sleep(l.TTL() / 20)
	}
	if err := lease.Renew(l.ctx, []byte("last")); err != nil {
		t.Fatal(err)
	}
	l.listed(map[string]string{"shard/1": "last"}, map[string]sharedlog.Lease{"shard/1": lease})
}

// taken waits until a lease of that name can be taken.
func (l leases) taken(name, value string) sharedlog.Lease {
	l.t.Helper()
	for {
		lease, err := l.Take(l.ctx, name, []byte(value))
		if err == nil {
			return lease
		}
		if l.ctx.Err() != nil || !errors.Is(err, sharedlog.ErrHeld) {
			l.t.Fatalf("take %s: %v", name, err)
		}
		time.Sleep(l.TTL() / 50)
	}
}

func testRunOut(t *testing.T, l leases) {
	old := l.take("shard/1", "old")
	l.listed(map[string]string{"shard/1": "old"}, nil)
	l.listed(nil, nil)
	if err := old.Renew(l.ctx, []byte("late")); !errors.Is(err, sharedlog.ErrLost) {
		t.Errorf("renewing what has run out gives %v", err)
	}
	lease := l.taken("shard/1", "new")
	if err := old.Renew(l.ctx, []byte("late")); !errors.Is(err, sharedlog.ErrLost) {
		t.Errorf("renewing another holder's lease gives %v", err)
	}
	if err := old.Release(l.ctx); err != nil {
		t.Errorf("releasing what is lost gives %v", err)
	}
	if err := lease.Renew(l.ctx, []byte("renewed")); err != nil {
		t.Errorf("the former holder has taken it from the new one: %v", err)
	}
	l.listed(map[string]string{"shard/1": "renewed"}, map[string]sharedlog.Lease{"shard/1": lease})
}

func testRelease(t *testing.T, l leases) {
	first := l.take("shard/1", "first")
	other := l.take("shard/2", "other")
	for range 2 {
		if err := first.Release(l.ctx); err != nil {
			t.Fatal(err)
		}
	}
	if err := first.Renew(l.ctx, []byte("again")); !errors.Is(err, sharedlog.ErrLost) {
		t.Errorf("renewing what was given back gives %v", err)
	}
	second := l.take("shard/1", "second") // at once
	if err := first.Release(l.ctx); err != nil {
		t.Fatal(err)
	}
	if err := second.Renew(l.ctx, []byte("second")); err != nil {
		t.Errorf("the former holder has given it away: %v", err)
	}
	if err := other.Renew(l.ctx, []byte("other")); err != nil {
		t.Errorf("another lease was given back: %v", err)
	}
	l.listed(map[string]string{"shard/1": "second", "shard/2": "other"}, map[string]sharedlog.Lease{
		"shard/1": second, "shard/2": other,
	})
}

func testList(t *testing.T, l leases) {
	l.listed(nil, nil)
	want := make(map[string]string)
	held := make(map[string]sharedlog.Lease)
	for n := range 30 {
		name := fmt.Sprintf("shard/%d", n)
		want[name] = fmt.Sprintf("value %d", n)
		held[name] = l.take(name, want[name])
	}
	l.listed(want, held)
	for _, name := range []string{"shard/3", "shard/17"} {
		if err := held[name].Release(l.ctx); err != nil {
			t.Fatal(err)
		}
		delete(want, name)
		delete(held, name)
	}
	l.listed(want, held)
}
