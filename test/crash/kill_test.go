package crash

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/history"
	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

// TestKill kills the server again and again, at any time.
func TestKill(t *testing.T) {
	program.Long(t)
	t.Parallel()
	kills(t, program.Build(t), t.TempDir(), func() {})
}

// kills kills a server on data again and again, and calls between before each of its starts but the first. At the end
// it checks that every promise was kept.
func kills(t *testing.T, binary, data string, between func(), flags ...string) {
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	rounds := number(t, "SLUICE_TEST_CRASH_ROUNDS", 4)
	t.Logf("SLUICE_TEST_CRASH_SEED=%d SLUICE_TEST_CRASH_ROUNDS=%d", seed, rounds)
	rng := rand.New(rand.NewPCG(seed, 0))
	within := func(least, most time.Duration) time.Duration {
		return least + time.Duration(rng.Int64N(int64(most-least)))
	}

	j, h := newJournal(workload.WallClock{Began: time.Now()})
	users := workload.New(rng, workload.Options{Patient: true})
	for round := range int(rounds) {
		if round > 0 {
			between()
		}
		for rng.IntN(3) == 0 {
			p := launch(t, binary, data, flags...)
			j.Sleep(within(0, 150*time.Millisecond))
			p.kill(t)
		}
		p := launch(t, binary, data, flags...)
		c := p.ready(t)
		if round == 0 {
			establish(t, users, &workload.Recorder{Journal: j, Pick: workload.To(c), Worker: "test"})
		}
		revived := killUnderLoad(t, p, c, j, users, fmt.Sprintf("round %d", round), func(func()) {
			j.Sleep(within(300*time.Millisecond, 1500*time.Millisecond))
		})
		c.Close()
		revived()
	}

	between()
	p := launch(t, binary, data, flags...)
	c := p.ready(t)
	finish(&workload.Recorder{Journal: j, Pick: workload.To(c), Worker: "test"}, users)
	c.Close()
	p.stop(t)
	checkCountersOf(t, h, data)
	report(t, h, seed)
}

// killUnderLoad makes all users use a server until wait returns, and kills it in the middle. The function that wait
// gets returns when each user has made a call. The server must be alive again when revived is called.
func killUnderLoad(
	t *testing.T, p *process, c *workload.Client, j *workload.Journal, users *workload.Load, words string,
	wait func(busy func()),
) (revived func()) {
	t.Helper()
	var over atomic.Bool // for workers without a call under way
	var all, first sync.WaitGroup
	for _, w := range users.Workers {
		first.Add(1)
		all.Go(func() {
			r := &workload.Recorder{Journal: j, Pick: workload.To(c), Worker: w.Name()}
			w.Step(r)
			first.Done()
			for !r.Gone && !over.Load() {
				w.Step(r)
			}
		})
	}
	wait(first.Wait)
	revived = j.Trouble("kill", words)
	p.kill(t)
	over.Store(true)
	all.Wait()
	return revived
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

// establish creates the queues that exist from the start.
func establish(t *testing.T, users *workload.Load, r *workload.Recorder) {
	t.Helper()
	if err := users.Establish(r); err != nil {
		t.Fatal(err)
	}
}

// slack is how far the service's time may differ from ours: it counts in milliseconds, and a machine's clock is
// sometimes corrected.
const slack = 50 * time.Millisecond

// newJournal returns a journal and the history that it writes.
func newJournal(c workload.Clock) (*workload.Journal, *history.History) {
	h := &history.History{Queues: workload.Queues(1), Topics: workload.Topics(1), Slack: slack}
	return workload.NewJournal(c, h, nil), h
}

// finish receives and deletes all remaining messages.
func finish(r *workload.Recorder, users *workload.Load) {
	e := &workload.Ending{Recorder: r, Queues: users.Queues()}
	e.Quiesce()
	e.Drain()
}

// report fails the test for each broken promise.
func report(t *testing.T, h *history.History, seed uint64) {
	t.Helper()
	const most = 10
	all := h.Verdict()
	for i, v := range all {
		if i == most {
			t.Errorf("and %d more", len(all)-most)
			break
		}
		t.Errorf("seed %d: %s\n%s", seed, v, h.Tell(v.Name))
	}
	t.Logf("%d calls, %d troubles: %v", len(h.Calls), len(h.Troubles), h.Tally())
}
