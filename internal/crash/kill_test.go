package crash

import (
	"cmp"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestKill kills the server again and again, in the middle of everything.
func TestKill(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	seed := number(t, "SLUICE_CRASH_SEED", uint64(time.Now().UnixNano()))
	rounds := number(t, "SLUICE_CRASH_ROUNDS", 4)
	t.Logf("SLUICE_CRASH_SEED=%d SLUICE_CRASH_ROUNDS=%d", seed, rounds)
	rng := rand.New(rand.NewPCG(seed, 0))
	within := func(least, most time.Duration) time.Duration {
		return least + time.Duration(rng.Int64N(int64(most-least)))
	}

	binary, data := build(t), t.TempDir()
	h := newHistory(wallClock{time.Now()})
	users := newLoad(rng, true)
	for round := range int(rounds) {
		for rng.IntN(3) == 0 {
			p := launch(t, binary, data)
			h.sleep(within(0, 150*time.Millisecond))
			p.kill(t)
		}
		p := launch(t, binary, data)
		c := p.ready(t)
		if round == 0 {
			establish(t, &recorder{service: c, history: h, worker: "test"})
		}
		var over atomic.Bool // for workers that are not calling anybody
		var all sync.WaitGroup
		for _, w := range users.workers {
			all.Go(func() {
				r := &recorder{service: c, history: h, worker: w.name(), round: round}
				for !r.gone && !over.Load() {
					w.step(r)
				}
			})
		}
		h.sleep(within(300*time.Millisecond, 1500*time.Millisecond))
		h.died()
		p.kill(t)
		over.Store(true)
		all.Wait()
		c.close()
	}

	p := launch(t, binary, data)
	c := p.ready(t)
	r := &recorder{service: c, history: h, worker: "test", round: int(rounds)}
	settle(r, users.queues())
	drain(r, users.queues())
	c.close()
	p.stop(t)
	report(t, h, seed)
}

// number returns a number from the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), strconv.FormatUint(otherwise, 10)), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// establish makes the queues that are there from the beginning.
func establish(t *testing.T, r *recorder) {
	t.Helper()
	for _, q := range standingQueues {
		if err := r.create(q); err != nil {
			t.Fatal(err)
		}
	}
}

// report fails the test for each promise that was broken.
func report(t *testing.T, h *history, seed uint64) {
	t.Helper()
	const most = 10
	all := h.verdict(standingQueues)
	for i, v := range all {
		if i == most {
			t.Errorf("and %d more", len(all)-most)
			break
		}
		t.Errorf("seed %d: %s\n%s", seed, v, h.tell(v.name))
	}
	t.Logf("%d calls, %d deaths: %v", len(h.calls), len(h.deaths), h.tally())
}
