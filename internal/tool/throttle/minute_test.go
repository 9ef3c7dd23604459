package throttle

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestMinute(t *testing.T) {
	var m Minute
	start := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{
		{0, true}, {time.Second, false}, {time.Minute - 1, false}, {time.Minute, true}, {time.Minute + 1, false},
		{2*time.Minute - 1, false}, {10 * time.Minute, true},
	} {
		if got := m.Allow(start.Add(c.after)); got != c.want {
			t.Errorf("after %v: allowed %v, want %v", c.after, got, c.want)
		}
	}
}

func TestMinuteIsAllowedOnce(t *testing.T) {
	var (
		m       Minute
		allowed atomic.Int32
		callers sync.WaitGroup
	)
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for range 50 {
		callers.Go(func() {
			if m.Allow(now) {
				allowed.Add(1)
			}
		})
	}
	callers.Wait()
	if n := allowed.Load(); n != 1 {
		t.Errorf("%d of 50 callers were allowed, want 1", n)
	}
}
