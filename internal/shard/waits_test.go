package shard_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
)

// The first receive of a message reports how long it has waited, its deletion how long the consumer took since the last
// receive.
func TestWaitAndProcessing(t *testing.T) {
	st, err := store.Open("store", store.Options{Disk: store.NewMemoryDisk(nil)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	var passed atomic.Int64
	began := time.Now()
	r := openRig(t, st, func() time.Time { return began.Add(time.Duration(passed.Load())) }, func(*queue.Config) {})
	ctx := t.Context()
	after := func(d time.Duration) { passed.Add(int64(d)) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err = r.Send(ctx, jobs, []queue.Outgoing{{Body: "x"}})
	must(err)
	after(2 * time.Second)
	first, err := r.Receive(ctx, jobs, queue.Receive{Max: 1}, 0)
	must(err)
	after(40 * time.Second) // its visibility timeout has ended, and its second receive does not count as the first
	again, err := r.Receive(ctx, jobs, queue.Receive{Max: 1}, 0)
	must(err)
	if len(first) != 1 || len(again) != 1 || again[0].Position != first[0].Position {
		t.Fatalf("received %v, then %v", first, again)
	}
	after(100 * time.Millisecond)
	_, err = r.Delete(ctx, jobs, []queue.Receipt{{Position: again[0].Position, Number: again[0].Receipt}})
	must(err)
	_, err = r.Delete(ctx, jobs, []queue.Receipt{{Position: again[0].Position, Number: again[0].Receipt}}) // it is gone
	must(err)
	standing := func() queue.Standing {
		t.Helper()
		all, err := r.Standings(ctx)
		must(err)
		for _, s := range all {
			if s.ID == jobs {
				return s
			}
		}
		return queue.Standing{}
	}
	s := standing()
	if s.Wait == nil || s.Wait.Buckets != [12]uint64{4: 1} || s.Wait.Sum != 2*time.Second {
		t.Errorf("waits: %+v", s.Wait)
	}
	if s.Processing == nil || s.Processing.Buckets != [12]uint64{2: 1} || s.Processing.Sum != 100*time.Millisecond {
		t.Errorf("processing: %+v", s.Processing)
	}
	must(r.Drop(ctx, jobs))
	must(r.Configure(ctx, queue.Config{
		ID: jobs, ARN: "arn:aws:sqs:us-east-1:000000000000:jobs", Visibility: time.Second, Retention: time.Hour,
	}))
	if s := standing(); s.Wait != nil || s.Processing != nil {
		t.Errorf("a new queue has %+v and %+v", s.Wait, s.Processing)
	}
}
