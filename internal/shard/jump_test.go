package shard_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// machineClock is a machine's clock that can be set. Its readings lack the monotonic clock, so that the shard cannot
// detect changes.
type machineClock struct{ at atomic.Int64 }

func newMachineClock() *machineClock {
	c := new(machineClock)
	c.at.Store(time.Date(2026, 3, 29, 1, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *machineClock) now() time.Time { return time.Unix(0, c.at.Load()) }

// pass lets time pass, at its usual pace as far as the shard can see: it reads the clock meanwhile.
func (r *jumpRig) pass(d time.Duration) {
	r.t.Helper()
	for step := min(d, time.Minute); d > 0; d -= step {
		r.clock.at.Add(int64(min(step, d)))
		r.look()
	}
}

// set sets the clock.
func (r *jumpRig) set(by time.Duration) {
	r.t.Helper()
	r.clock.at.Add(int64(by))
	r.look()
}

func (r *jumpRig) look() {
	r.t.Helper()
	if err := r.Probe(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// jumpRig is a shard on a machine whose clock jumps.
type jumpRig struct {
	*rig
	t     *testing.T
	clock *machineClock
	open  func() *rig
}

func newJumpRig(t *testing.T) *jumpRig {
	t.Helper()
	st := storetest.Memory(t)
	r := &jumpRig{t: t, clock: newMachineClock()}
	r.open = func() *rig {
		return openRig(t, st, r.clock.now, func(c *queue.Config) { c.Retention = 24 * time.Hour })
	}
	r.rig = r.open()
	return r
}

// jumps are the jumps that a clock can make, with and without a restart.
var jumps = map[string]func(r *jumpRig){
	"not at all":      func(*jumpRig) {},
	"minutes back":    func(r *jumpRig) { r.set(-10 * time.Minute) },
	"a day back":      func(r *jumpRig) { r.set(-24 * time.Hour) },
	"back, again":     func(r *jumpRig) { r.set(-time.Minute); r.set(-time.Minute); r.set(-time.Minute) },
	"restart":         func(r *jumpRig) { r.restart(0) },
	"restart, behind": func(r *jumpRig) { r.restart(-time.Hour) },
	"restart and on":  func(r *jumpRig) { r.restart(-time.Hour); r.restart(-time.Hour) },
}

func (r *jumpRig) restart(by time.Duration) {
	r.Close()
	r.clock.at.Add(int64(by))
	r.rig = r.open()
}

func (r *jumpRig) fifo(body string) queue.Sent {
	r.t.Helper()
	sent, err := r.Send(r.t.Context(), orders, []queue.Outgoing{{Body: body, Group: "g", Dedup: body}})
	if err != nil {
		r.t.Fatal(err)
	}
	return sent[0]
}

func (r *jumpRig) delayed(body string, delay time.Duration) {
	r.t.Helper()
	if _, err := r.Send(r.t.Context(), jobs, []queue.Outgoing{{Body: body, Delay: &delay}}); err != nil {
		r.t.Fatal(err)
	}
}

// When the machine's clock jumps, time passes for the shard as before: timeouts, delays, deduplication and retention
// last as long as they should, neither less nor forever.
func TestTimePassesThroughJumps(t *testing.T) {
	for name, jump := range jumps {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newJumpRig(t)
			r.send(t, jobs, "held")
			equal(t, r.receive(t, jobs, 10, 0), "held")
			r.delayed("delayed", time.Minute)
			first := r.fifo("a")
			r.fifo("b")
			equal(t, r.receive(t, orders, 10, 0), "a", "b")
			r.fifo("c")

			r.pass(10 * time.Second)
			jump(r)
			equal(t, r.receive(t, jobs, 10, 0))
			equal(t, r.receive(t, orders, 10, 0))
			if again := r.fifo("a"); !again.Duplicate || again.Sequence != first.Sequence {
				t.Errorf("sent again: %+v, was %+v", again, first)
			}
			if d := r.fifo("d"); d.Sequence <= first.Sequence {
				t.Errorf("%+v comes after %+v", d, first)
			}
			r.pass(19 * time.Second)
			equal(t, r.receive(t, jobs, 10, 0))
			equal(t, r.receive(t, orders, 10, 0))
			r.pass(time.Second)
			equal(t, r.receive(t, jobs, 10, 0), "held")
			equal(t, r.receive(t, orders, 10, 0), "a", "b", "c", "d")

			jump(r)
			r.pass(29 * time.Second)
			equal(t, r.receive(t, jobs, 10, 0))
			r.pass(time.Second)
			got := r.receive(t, jobs, 10, 0)
			if len(got) != 2 {
				t.Errorf("after a minute: %v", got)
			}

			// The deduplication interval is five minutes from the first send.
			r.pass(3*time.Minute + 50*time.Second)
			jump(r)
			if again := r.fifo("a"); !again.Duplicate || again.Sequence != first.Sequence {
				t.Errorf("sent again after nearly five minutes: %+v, was %+v", again, first)
			}
			r.pass(11 * time.Second)
			if later := r.fifo("a"); later.Duplicate {
				t.Errorf("sent again after five minutes: still a duplicate of %+v", first)
			}
			equal(t, r.receive(t, orders, 10, 0), "a", "b", "c", "d", "a")

			jump(r)
			r.pass(23 * time.Hour)
			if n := r.total(jobs) + r.total(orders); n != 7 {
				t.Errorf("%d messages after nearly a day, want 7", n)
			}
			r.pass(time.Hour)
			if n := r.total(jobs) + r.total(orders); n != 0 {
				t.Errorf("%d messages after a day", n)
			}
		})
	}
}

func (r *jumpRig) total(id queue.ID) uint64 {
	r.t.Helper()
	c, err := r.Counts(r.t.Context(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return c.Visible + c.InFlight + c.Delayed
}

// A clock that is set hours ahead ends everything that would have ended by then, and nothing else. When it is
// corrected, even while the server is down, time continues from where it was.
func TestClockIsSetAheadAndPutRight(t *testing.T) {
	const ahead = 5 * time.Hour
	for name, putRight := range map[string]func(*jumpRig){
		"while it runs":    func(r *jumpRig) { r.set(-ahead) },
		"while it is down": func(r *jumpRig) { r.restart(-ahead) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newJumpRig(t)
			r.send(t, jobs, "held")
			equal(t, r.receive(t, jobs, 10, 0), "held")
			r.delayed("delayed", 15*time.Minute)
			r.fifo("a")
			r.fifo("b")
			equal(t, r.receive(t, orders, 1, 0), "a")
			r.set(ahead)
			if got := r.receive(t, jobs, 10, 0); len(got) != 2 {
				t.Errorf("hours later: %v", got)
			}
			equal(t, r.receive(t, orders, 10, 0), "a", "b")

			putRight(r)
			r.delayed("later", time.Minute)
			last := r.fifo("c")
			r.pass(29 * time.Second)
			equal(t, r.receive(t, jobs, 10, 0))
			equal(t, r.receive(t, orders, 10, 0))
			if again := r.fifo("c"); !again.Duplicate || again.Sequence != last.Sequence {
				t.Errorf("a duplicate is %+v, not %+v", again, last)
			}
			r.pass(time.Second)
			if got := r.receive(t, jobs, 10, 0); len(got) != 2 {
				t.Errorf("after the visibility timeout: %v", got)
			}
			equal(t, r.receive(t, orders, 10, 0), "a", "b", "c")
			r.pass(30 * time.Second)
			if got := r.receive(t, jobs, 10, 0); len(got) != 3 {
				t.Errorf("after the delay: %v", got)
			}
			r.pass(24*time.Hour - ahead - 10*time.Minute)
			if n := r.total(jobs) + r.total(orders); n != 6 {
				t.Errorf("%d messages are left, want 6", n)
			}
		})
	}
}

// A long poll ends, or gets its message, although the clock is set while it waits.
func TestLongPollsOutliveJumps(t *testing.T) {
	for name, by := range map[string]time.Duration{
		"minutes back": -10 * time.Minute, "hours forward": 5 * time.Hour, "seconds forward": 3 * time.Second,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st, err := store.OpenMemory(store.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			var offset atomic.Int64
			now := func() time.Time { return time.Now().Round(0).Add(time.Duration(offset.Load())) }
			r := openRig(t, st, now, func(c *queue.Config) { c.Retention = 24 * time.Hour })
			defer r.Close()
			ended, given := make(chan []string, 1), make(chan []string, 1)
			go func() { ended <- r.receive(t, jobs, 10, time.Second) }()
			delay := time.Second
			if _, err := r.Send(t.Context(), orders,
				[]queue.Outgoing{{Body: "m", Group: "g", Dedup: "m", Delay: &delay}}); err != nil {
				t.Fatal(err)
			}
			go func() { given <- r.receive(t, orders, 10, wait) }()
			time.Sleep(100 * time.Millisecond)
			offset.Store(int64(by))
			equal(t, <-ended)
			if by < wait {
				equal(t, <-given, "m")
			} else if got := <-given; len(got) == 0 {
				// By the clock, it has waited for five hours.
				equal(t, r.receive(t, orders, 10, 0), "m")
			}
		})
	}
}
