package shard

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// walked runs a walk with steps of this length, with or without other requests for the shard, and returns the share of
// its time that it has worked.
func walked(t *testing.T, p *pacer, account string, step time.Duration, busy bool) (work, total time.Duration) {
	t.Helper()
	w, err := p.begin(t.Context(), account)
	if err != nil {
		t.Fatal(err)
	}
	defer w.end()
	start := time.Now()
	for {
		time.Sleep(step)
		work += step
		if busy {
			p.commits.Add(1)
		}
		if !w.proceed(walkChunk) {
			return work, time.Since(start)
		}
	}
}

func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer()
		const step = 100 * time.Microsecond
		if work, total := walked(t, p, "a", step, false); work < total*45/100 || work > total*55/100 ||
			total < walkTime || total > walkTime*11/10 {
			t.Errorf("on an idle shard it works %v of %v", work, total)
		}
		time.Sleep(busyTime)
		if work, total := walked(t, p, "a", step, true); work < total*3/100 || work > total*5/100 || total < walkTime ||
			total > walkTime*11/10 {
			t.Errorf("on a busy shard it works %v of %v", work, total)
		}
	})
}

// Many concurrent walks take no more time than one, and none waits until another is complete.
func TestWalksTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer()
		const walks = 8
		done := make(chan time.Duration, walks)
		for range walks {
			go func() {
				work, _ := walked(t, p, "a", 100*time.Microsecond, true)
				done <- work
			}()
		}
		start := time.Now()
		all := time.Duration(0)
		for range walks {
			work := <-done
			all += work
			if work < 2*time.Millisecond {
				t.Errorf("one has worked %v only", work)
			}
		}
		if total := time.Since(start); all > total*5/100 {
			t.Errorf("together they have worked %v of %v", all, total)
		}
	})
}

// An account with many walks and one with a single walk get equal numbers of turns.
func TestAccountsHaveAsManyTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer()
		const walks = 12
		many := make(chan time.Duration, walks)
		for range walks {
			go func() {
				work, _ := walked(t, p, "many", 100*time.Microsecond, true)
				many <- work
			}()
		}
		synctest.Wait()
		one, _ := walked(t, p, "one", 100*time.Microsecond, true)
		all := time.Duration(0)
		for range walks {
			all += <-many
		}
		if one < all*2/5 {
			t.Errorf("one walk has worked %v, the %d of the other account %v", one, walks, all)
		}
	})
}

func TestWalkEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer()
		first, err := p.begin(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.begin(ctx, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("a walk of a client that has gone: %v", err)
		}
		first.bytes = walkBytes
		if first.proceed(walkChunk) {
			t.Error("its bytes are not bounded")
		}
		p.close()
		if _, err := p.begin(t.Context(), "a"); !errors.Is(err, ErrNotBegun) {
			t.Errorf("a walk of a shard that is being closed: %v", err)
		}
		first.bytes = 0
		time.Sleep(paceSlice)
		if first.proceed(walkChunk) {
			t.Error("it goes on while the shard is being closed")
		}
		first.end()
	})
}
