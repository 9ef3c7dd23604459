package crash

import (
	"cmp"
	"context"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/workload"
	"github.com/sluicemq/sluice/test/program"
)

const (
	// soakPause is how long all clients rest between two steps, so that a soak uses only a part of a processor.
	soakPause = 50 * time.Millisecond
	// soakSamples is how often the state of the server is sampled.
	soakSamples = 200
	// soakJudged is the minimum duration from which growth can be distinguished from the warm-up of a new server.
	soakJudged = time.Minute
	vanishers  = 6
)

// TestSoak uses a server for a while.
func TestSoak(t *testing.T) {
	program.Long(t)
	length, err := time.ParseDuration(cmp.Or(os.Getenv("SLUICE_TEST_SOAK"), "4s"))
	if err != nil {
		t.Fatalf("SLUICE_TEST_SOAK: %v", err)
	}
	seed := number(t, "SLUICE_TEST_CRASH_SEED", uint64(time.Now().UnixNano()))
	t.Logf("SLUICE_TEST_CRASH_SEED=%d SLUICE_TEST_SOAK=%s", seed, length)
	rng := rand.New(rand.NewPCG(seed, 3))

	p := launchChild(t, t.TempDir())
	c := p.ready(t)
	j, h := newJournal(workload.WallClock{Began: time.Now()})
	users := workload.New(rng, workload.Options{Patient: true})
	establish(t, users, &workload.Recorder{Journal: j, Pick: workload.To(c), Worker: "test"})
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	var all sync.WaitGroup
	for _, w := range users.Workers {
		all.Go(func() {
			r := &workload.Recorder{Journal: j, Pick: workload.To(c), Worker: w.Name()}
			for !r.Gone && ctx.Err() == nil {
				w.Step(r)
				r.Sleep(soakPause)
			}
		})
	}
	for i := range vanishers {
		queue := []string{"plain", "orders.fifo"}[i%2]
		source := rand.New(rand.NewPCG(rng.Uint64(), rng.Uint64()))
		all.Go(func() { vanish(ctx, c.Endpoint, queue, source) })
	}
	var samples []sample
	tick := time.NewTicker(max(length/soakSamples, soakPause))
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			samples = append(samples, p.sample(t))
		case <-ctx.Done():
		}
	}
	all.Wait()

	finish(&workload.Recorder{Journal: j, Pick: workload.To(c), Worker: "test"}, users)
	c.Close()
	p.stop(t)
	report(t, h, seed)
	judgeGrowth(t, samples, length >= soakJudged)
}

// vanish is a consumer that leaves without its answer, sometimes at the very moment of the answer, and comes back.
func vanish(ctx context.Context, endpoint, queue string, rng *rand.Rand) {
	c := workload.NewClient(endpoint)
	defer c.Close()
	for ctx.Err() == nil {
		call, cancel := context.WithTimeout(ctx, time.Duration(rng.IntN(200))*time.Millisecond)
		// Other consumers receive the messages that it would have received; the history need not know.
		_ = c.CallIn(call, "ReceiveMessage", workload.Object{
			"QueueUrl": c.URL(queue), "WaitTimeSeconds": 5, "VisibilityTimeout": 1,
		}, nil)
		cancel()
		time.Sleep(soakPause)
	}
}

// judgeGrowth compares the last quarter of a soak with the second.
func judgeGrowth(t *testing.T, samples []sample, judged bool) {
	t.Helper()
	median := func(quarter int, of func(sample) int64) int64 {
		n := len(samples)
		var values []int64
		for _, s := range samples[quarter*n/4 : (quarter+1)*n/4] {
			values = append(values, of(s))
		}
		if len(values) == 0 {
			return 0
		}
		slices.Sort(values)
		return values[len(values)/2]
	}
	memory := func(s sample) int64 { return s.memory >> 20 }
	goroutines := func(s sample) int64 { return int64(s.goroutines) }
	t.Logf("memory: median %d MiB in the second quarter, %d in the last; goroutines: %d, %d",
		median(1, memory), median(3, memory), median(1, goroutines), median(3, goroutines))
	if !judged {
		return
	}
	if before, after := median(1, memory), median(3, memory); after > before*5/4+64 {
		t.Errorf("the server has grown from %d to %d MiB", before, after)
	}
	if before, after := median(1, goroutines), median(3, goroutines); after > before*5/4+20 {
		t.Errorf("the server had %d goroutines and has %d", before, after)
	}
}
