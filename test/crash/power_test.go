package crash

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/proof/workload"
)

// TestPowerLoss cuts a shard's power again and again. The disk then holds the synced data and a random part of the
// rest, and the machine's clock may have been set back.
func TestPowerLoss(t *testing.T) {
	const seeds = 40
	first := number(t, "SLUICE_TEST_CRASH_SEED", 0)
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			losePower(t, seed)
		})
	}
}

func losePower(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	clock := &leapClock{began: time.Date(2026, 3, 1, 12, 0, rng.IntN(600), 0, time.UTC)}
	j, h := newJournal(clock)
	users := workload.New(rng, workload.Options{})
	queues := new(catalog)
	disk := vfs.NewCrashableMem()
	behind := time.Duration(0)
	revived := func() {}
	start := func() *machine {
		t.Helper()
		revived()
		m, err := powerOn(disk, queues, clock, behind, rand.New(rand.NewPCG(rng.Uint64(), 2)),
			func() { revived = j.Trouble("loss of power", "") })
		if err == nil {
			err = m.recount(j)
		}
		if err != nil {
			t.Fatalf("seed %d, after %d losses of power: %v", seed, len(h.Troubles), err)
		}
		if rng.IntN(3) == 0 {
			behind += time.Duration(rng.IntN(600)) * time.Second
		}
		return m
	}

	losses := 2 + rng.IntN(4)
	for round := range losses {
		m := start()
		recorders := make(map[workload.Worker]*workload.Recorder)
		for _, w := range users.Workers {
			recorders[w] = &workload.Recorder{Journal: j, Pick: workload.To(m), Worker: w.Name()}
		}
		if round == 0 {
			establish(t, users, &workload.Recorder{Journal: j, Pick: workload.To(m), Worker: "test"})
		}
		m.fuse.Store(int64(1 + rng.IntN(250)))
		for !m.off.Load() {
			someAtOnce(rng, users.Workers, func(w workload.Worker) { w.Step(recorders[w]) })
			clock.Sleep(leap(rng))
		}
		if err := m.close(); err != nil {
			t.Fatal(err)
		}
		disk = m.after
	}

	m := start()
	finish(&workload.Recorder{Journal: j, Pick: workload.To(m), Worker: "test"}, users)
	err := m.recount(j)
	checkCounters(t, h, m.store, queues.all())
	if err := errors.Join(err, m.close()); err != nil {
		t.Fatal(err)
	}
	report(t, h, seed)
}

// someAtOnce lets a few of the workers act concurrently, so that their requests share commits.
func someAtOnce(rng *rand.Rand, workers []workload.Worker, do func(workload.Worker)) {
	done := make(chan struct{})
	n := 1 + rng.IntN(4)
	for _, i := range rng.Perm(len(workers))[:n] {
		go func() {
			do(workers[i])
			done <- struct{}{}
		}()
	}
	for range n {
		<-done
	}
}

// leap returns the time until the next turn: mostly little, sometimes enough for timeouts to end, seldom enough for
// deduplication to forget.
func leap(rng *rand.Rand) time.Duration {
	switch n := rng.IntN(200); {
	case n == 0:
		return 3 * time.Minute
	case n < 20:
		return time.Duration(rng.IntN(3000)) * time.Millisecond
	}
	return time.Duration(rng.IntN(50)) * time.Millisecond
}
