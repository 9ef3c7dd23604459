package shard_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// size returns the size of a test: from the environment, or small.
func size(t *testing.T, name string, small int) int {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return small
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// chunk is the number of messages in one call.
const chunk = 1000

func (r *jumpRig) fill(id queue.ID, n int) {
	r.t.Helper()
	for sent := 0; sent < n; {
		var out []queue.Outgoing
		for ; len(out) < chunk && sent < n; sent++ {
			m := queue.Outgoing{Body: strconv.Itoa(sent)}
			if id == orders {
				m.Group, m.Dedup = fmt.Sprint("g", sent), m.Body
			}
			out = append(out, m)
		}
		if _, err := r.Send(r.t.Context(), id, out); err != nil {
			r.t.Fatal(err)
		}
	}
}

// take receives until the queue returns no more messages, and returns them all with the last error.
func (r *jumpRig) take(id queue.ID) (all []shard.Message, err error) {
	r.t.Helper()
	for {
		got, err := r.Receive(r.t.Context(), id, queue.Receive{Max: chunk}, 0)
		if err != nil || len(got) == 0 {
			return all, err
		}
		all = append(all, got...)
	}
}

func (r *jumpRig) remove(id queue.ID, messages []shard.Message) {
	r.t.Helper()
	for len(messages) > 0 {
		n := min(chunk, len(messages))
		var receipts []queue.Receipt
		for _, m := range messages[:n] {
			receipts = append(receipts, queue.Receipt{Position: m.Position, Number: m.Receipt})
		}
		messages = messages[n:]
		results, err := r.Delete(r.t.Context(), id, receipts)
		if err := errors.Join(append(results, err)...); err != nil {
			r.t.Fatal(err)
		}
	}
}

// A queue with as many messages in flight as it may have gives no more: a
// standard queue says so, a FIFO queue is silent. It goes on when some are
// deleted, and when they become visible again.
//
// SLUICE_TEST_IN_FLIGHT=120000 tests the limit itself.
func TestTooManyInFlight(t *testing.T) {
	limit := size(t, "SLUICE_TEST_IN_FLIGHT", 2_000)
	for name, id := range map[string]queue.ID{"standard": jobs, "FIFO": orders} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var over error
			if id == jobs {
				over = queue.ErrOverLimit
			}
			r := limited(t, limit)
			const more = 500
			r.fill(id, limit+more)
			full := func() {
				t.Helper()
				if c, err := r.Counts(t.Context(), id); err != nil || int(c.InFlight) != limit {
					t.Errorf("%d in flight, want %d; %v", c.InFlight, limit, err)
				}
				if got, err := r.Receive(t.Context(), id, queue.Receive{Max: 10}, 0); len(got) > 0 ||
					!errors.Is(err, over) {
					t.Errorf("another receive returns %d messages and %v, want %v", len(got), err, over)
				}
				// A long poll waits.
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
				defer cancel()
				if got, err := r.Receive(ctx, id, queue.Receive{Max: 10}, wait); len(got) > 0 ||
					err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("a long poll returns %d messages and %v", len(got), err)
				}
			}
			held, err := r.take(id)
			if len(held) != limit || !errors.Is(err, over) {
				t.Fatalf("%d messages were returned, %v", len(held), err)
			}
			full()

			// A waiting poll is served as soon as there is room.
			given := make(chan []string, 1)
			go func() { given <- r.receive(t, id, 10, wait) }()
			r.remove(id, held[:3])
			if got := <-given; len(got) == 0 || len(got) > 3 {
				t.Errorf("the poll got %v", got)
			}
			if _, err := r.take(id); !errors.Is(err, over) {
				t.Errorf("after a few deletes: %v", err)
			}
			full()
			r.remove(id, held[3:403])
			again, err := r.take(id)
			if len(again) != 400 || !errors.Is(err, over) {
				t.Errorf("after 400 deletes %d messages were returned, %v", len(again), err)
			}
			full()

			// All of them become visible again.
			r.pass(31 * time.Second)
			held, err = r.take(id)
			if len(held) != limit || !errors.Is(err, over) {
				t.Errorf("after the visibility timeout %d messages were returned, %v", len(held), err)
			}
			full()
			gone := 403
			for len(held) > 0 {
				r.remove(id, held)
				gone += len(held)
				if held, err = r.take(id); err != nil {
					t.Fatal(err)
				}
			}
			if gone != limit+more {
				t.Errorf("%d of %d messages were deleted", gone, limit+more)
			}
			if n := r.total(id); n != 0 {
				t.Errorf("%d messages are left", n)
			}
		})
	}
}

func limited(t *testing.T, limit int) *jumpRig {
	t.Helper()
	st, err := store.Open(t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &jumpRig{t: t, clock: newMachineClock()}
	r.rig = openRig(t, st, r.clock.now, func(c *queue.Config) { c.MaxInFlight, c.Retention = limit, 24*time.Hour })
	return r
}

// Deduplication ids are on disk: memory does not grow with them, and each is
// known for five minutes, the first as well as the last.
//
// SLUICE_TEST_DEDUP_IDS=1000000 tests a million.
func TestManyDeduplicationIDs(t *testing.T) {
	n := size(t, "SLUICE_TEST_DEDUP_IDS", 5_000) / chunk * chunk
	const interval = 5 * time.Minute
	r := limited(t, queue.MaxInFlight)
	step := (interval - time.Second) / time.Duration(n/chunk)
	var sequences []uint64 // of the first of each chunk
	var early int64
	for i := 0; i < n; i += chunk {
		var out []queue.Outgoing
		for j := range chunk {
			out = append(out, queue.Outgoing{Body: "m", Group: fmt.Sprint("g", j%50), Dedup: fmt.Sprint("id-", i+j)})
		}
		sent, err := r.Send(t.Context(), orders, out)
		if err != nil {
			t.Fatal(err)
		}
		sequences = append(sequences, sent[0].Sequence)
		for {
			got, err := r.take(orders)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				break
			}
			r.remove(orders, got)
		}
		r.pass(step)
		if i == n/5/chunk*chunk {
			early = alive()
		}
	}
	late := alive()
	t.Logf("%d MiB were alive after a fifth of %d ids, %d after all", early>>20, n, late>>20)
	if late > early+64<<20 {
		t.Errorf("%d ids take %d MiB of memory", n*4/5, (late-early)>>20)
	}

	resend := func(i int) queue.Sent {
		t.Helper()
		sent, err := r.Send(t.Context(), orders,
			[]queue.Outgoing{{Body: "m", Group: "again", Dedup: fmt.Sprint("id-", i)}})
		if err != nil {
			t.Fatal(err)
		}
		return sent[0]
	}
	for i, want := range sequences {
		if s := resend(i * chunk); !s.Duplicate || s.Sequence != want {
			t.Fatalf("id %d is not known any more: %+v, want the sequence number %d", i*chunk, s, want)
		}
	}
	r.pass(2 * time.Second)
	if s := resend(0); s.Duplicate {
		t.Error("the first id is known for longer than five minutes")
	}
	if s := resend(n - 1); !s.Duplicate {
		t.Error("the last id is not known")
	}
	r.pass(interval)
	if s := resend(n - 1); s.Duplicate {
		t.Error("the last id is known for longer than five minutes")
	}
}

// alive returns the size of the live memory.
func alive() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
