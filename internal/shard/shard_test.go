package shard_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

const (
	jobs    queue.ID = 1
	orders  queue.ID = 2
	unknown queue.ID = 99
)

// wait is longer than anything in these tests takes.
const wait = 20 * time.Second

type rig struct {
	*shard.Shard
	store *store.Store
	// commit runs before the store's own commit, unless it is nil.
	commit  atomic.Pointer[func() error]
	commits atomic.Int64
	// commitThen runs after it.
	commitThen atomic.Pointer[func() error]
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, store.Options{Disk: store.NewMemoryDisk(nil)})
}

func newRigOn(t *testing.T, o store.Options) *rig {
	t.Helper()
	st, err := store.Open("store", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	return openRig(t, st, time.Now, func(*queue.Config) {})
}

// openRig opens a shard on a store, with a given clock and queues.
func openRig(t *testing.T, st *store.Store, now func() time.Time, change func(*queue.Config)) *rig {
	t.Helper()
	c := queue.Config{Visibility: 30 * time.Second, Retention: time.Hour}
	change(&c)
	a, b := c, c
	a.ID, a.ARN = jobs, "arn:aws:sqs:us-east-1:000000000000:jobs"
	b.ID, b.ARN, b.FIFO = orders, "arn:aws:sqs:us-east-1:000000000000:orders.fifo", true
	return openWith(t, st, now, a, b)
}

// openWith opens a shard with only these queues.
func openWith(t *testing.T, st *store.Store, now func() time.Time, configs ...queue.Config) *rig {
	t.Helper()
	r := &rig{store: st}
	var err error
	r.Shard, err = shard.Open(shard.Options{
		Store: st, Number: 1, Now: now,
		Configs: func() []queue.Config { return configs },
		Commit: func(tx *store.Txn) error {
			r.commits.Add(1)
			if f := r.commit.Load(); f != nil {
				if err := (*f)(); err != nil {
					return err
				}
			}
			err := st.Commit(tx)
			if f := r.commitThen.Load(); f != nil && err == nil {
				err = (*f)()
			}
			return err
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func (r *rig) send(t *testing.T, id queue.ID, bodies ...string) {
	t.Helper()
	for _, b := range bodies {
		m := queue.Outgoing{Body: b, Group: "g", Dedup: b}
		if id == jobs {
			m.Group = ""
		}
		if _, err := r.Send(t.Context(), id, []queue.Outgoing{m}); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rig) receive(t *testing.T, id queue.ID, most int, d time.Duration) []string {
	t.Helper()
	got, err := r.Receive(t.Context(), id, queue.Receive{Max: most}, d)
	if err != nil {
		t.Fatal(err)
	}
	return bodies(got)
}

func bodies(messages []shard.Message) []string {
	var out []string
	for _, m := range messages {
		out = append(out, m.Body)
	}
	return out
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestNothingIsAnsweredBeforeItIsDurable(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	block := func() error { <-release; return nil }
	r.commit.Store(&block)
	answered := make(chan error, 1)
	go func() {
		_, err := r.Send(context.Background(), jobs, []queue.Outgoing{{Body: "m"}})
		answered <- err
	}()
	eventually.True(t, "committing", func() bool { return r.commits.Load() > 0 })
	select {
	case <-answered:
		t.Fatal("answered while the commit was under way")
	case <-time.After(20 * time.Millisecond):
	}
	close(release)
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

func TestManyShareACommit(t *testing.T) {
	r := newRig(t)
	release := make(chan struct{})
	block := func() error { <-release; return nil }
	r.commit.Store(&block)
	var all sync.WaitGroup
	var asking atomic.Int64
	for i := range 100 {
		all.Go(func() {
			asking.Add(1)
			if _, err := r.Send(context.Background(), jobs, []queue.Outgoing{{Body: fmt.Sprint(i)}}); err != nil {
				t.Error(err)
			}
		})
	}
	eventually.True(t, "all asking", func() bool { return r.commits.Load() > 0 && asking.Load() == 100 })
	time.Sleep(100 * time.Millisecond) // let the others arrive behind the first commit
	close(release)
	all.Wait()
	if n := r.commits.Load(); n > 50 {
		t.Errorf("100 sends made %d commits", n)
	}
	counts, err := r.Counts(t.Context(), jobs)
	if err != nil || counts.Visible != 100 {
		t.Errorf("counts %+v, %v", counts, err)
	}
}

func TestFailedCommitAcknowledgesNothing(t *testing.T) {
	r := newRig(t)
	r.send(t, jobs, "before")
	broken := errors.New("disk on fire")
	fail := func() error { return broken }
	r.commit.Store(&fail)
	if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: "during"}}); !errors.Is(err, shard.ErrUnavailable) ||
		!errors.Is(err, broken) {
		t.Errorf("send: %v", err)
	}
	if err := r.Probe(t.Context()); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("probe while broken: %v", err)
	}
	r.commit.Store(nil)
	eventually.Succeeds(t, func() error { return r.Probe(t.Context()) })
	equal(t, r.receive(t, jobs, 10, 0), "before")
}

func TestRefusalsDoNotDisturbTheOthers(t *testing.T) {
	r := newRig(t)
	if _, err := r.Send(t.Context(), unknown, []queue.Outgoing{{Body: "m"}}); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("send to an unknown queue: %v", err)
	}
	if _, err := r.Receive(t.Context(), unknown, queue.Receive{Max: 1}, time.Second); !errors.Is(err,
		queue.ErrNoQueue) {
		t.Errorf("receive from an unknown queue: %v", err)
	}
	r.send(t, jobs, "m")
	equal(t, r.receive(t, jobs, 1, 0), "m")
}

func TestLongPoll(t *testing.T) {
	tests := map[string]func(*testing.T, *rig){
		"is woken by a send": func(t *testing.T, r *rig) { r.send(t, jobs, "m") },
		"is woken by the end of a delay": func(t *testing.T, r *rig) {
			delay := 50 * time.Millisecond
			if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m", Delay: &delay}}); err != nil {
				t.Error(err)
			}
		},
	}
	for name, happen := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			got := make(chan []string, 1)
			go func() { got <- r.receive(t, jobs, 10, wait) }()
			time.Sleep(10 * time.Millisecond)
			happen(t, r)
			equal(t, <-got, "m")
		})
	}
	t.Run("wakes at the end of a visibility timeout", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		r.send(t, jobs, "m")
		timeout := 50 * time.Millisecond
		if _, err := r.Receive(t.Context(), jobs, queue.Receive{Max: 1, Timeout: &timeout}, 0); err != nil {
			t.Fatal(err)
		}
		equal(t, r.receive(t, jobs, 1, wait), "m")
	})
	t.Run("returns empty", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		began := time.Now()
		equal(t, r.receive(t, jobs, 1, 200*time.Millisecond))
		// The shard's clock follows the wall clock, which may be set forward
		// meanwhile, so this only tells a poll that waited from one that did not.
		if took := time.Since(began); took < 100*time.Millisecond {
			t.Errorf("after %s", took)
		}
	})
	t.Run("ends when its queue is deleted", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		got := make(chan error, 1)
		go func() {
			_, err := r.Receive(context.Background(), jobs, queue.Receive{Max: 1}, wait)
			got <- err
		}()
		time.Sleep(10 * time.Millisecond)
		if err := r.Drop(t.Context(), jobs); err != nil {
			t.Fatal(err)
		}
		if err := <-got; !errors.Is(err, queue.ErrNoQueue) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("returns empty when the shard is drained", func(t *testing.T) {
		t.Parallel()
		r := newRig(t)
		got := make(chan []string, 1)
		go func() { got <- r.receive(t, jobs, 1, wait) }()
		time.Sleep(10 * time.Millisecond)
		r.Drain()
		equal(t, <-got)
		equal(t, r.receive(t, jobs, 1, wait)) // and so does a new one, at once
	})
}

func TestOneMessageGoesToOnePoll(t *testing.T) {
	r := newRig(t)
	const polls = 20
	got := make(chan []string, polls)
	for range polls {
		go func() { got <- r.receive(t, jobs, 10, wait) }()
	}
	time.Sleep(20 * time.Millisecond)
	r.send(t, jobs, "a", "b", "c")
	seen := make(map[string]int)
	for range polls {
		for _, b := range <-got {
			seen[b]++
		}
		if len(seen) == 3 {
			r.Drain() // the others need not wait any longer
		}
	}
	if fmt.Sprint(seen) != "map[a:1 b:1 c:1]" {
		t.Errorf("got %v", seen)
	}
}

// Consumers stop waiting at the very moment at which messages arrive. No consumer that has left may hold a message.
func TestLeavingPollSwallowsNothing(t *testing.T) {
	r := newRig(t)
	const rounds, consumers = 50, 8
	var received atomic.Int64
	for round := range rounds {
		var all sync.WaitGroup
		for range consumers {
			ctx, cancel := context.WithCancel(context.Background())
			all.Go(func() {
				defer cancel()
				got, err := r.Receive(ctx, jobs, queue.Receive{Max: 1}, wait)
				if err == nil {
					received.Add(int64(len(got)))
				}
			})
			all.Go(cancel)
		}
		r.send(t, jobs, fmt.Sprint(round))
		all.Wait()
	}
	for {
		got := r.receive(t, jobs, 10, 0)
		if len(got) == 0 {
			break
		}
		received.Add(int64(len(got)))
	}
	if n := received.Load(); n != rounds {
		t.Errorf("%d of %d messages were received; no consumer has the others, and they are invisible", n, rounds)
	}
}

func TestReturnedDeliveryDoesNotCount(t *testing.T) {
	r := newRig(t)
	r.send(t, orders, "a", "b")
	got, err := r.Receive(t.Context(), orders, queue.Receive{Max: 10, Attempt: "try-1"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	var deliveries []queue.Delivery
	for _, m := range got {
		deliveries = append(deliveries, m.Delivery)
	}
	if err := r.Return(t.Context(), orders, deliveries, "try-1"); err != nil {
		t.Fatal(err)
	}
	got, err = r.Receive(t.Context(), orders, queue.Receive{Max: 10, Attempt: "try-1"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, bodies(got), "a", "b")
	if n := got[0].ReceiveCount(); n != 1 {
		t.Errorf("receive count %d", n)
	}
}

func TestClosedShardBeginsNothing(t *testing.T) {
	r := newRig(t)
	r.Close()
	if _, err := r.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m"}}); !errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("send: %v", err)
	}
	if _, err := r.Receive(t.Context(), jobs, queue.Receive{Max: 1}, wait); !errors.Is(err, shard.ErrNotBegun) {
		t.Errorf("receive: %v", err)
	}
}

// A message whose body is lost is not silently omitted. The next receive gets the messages that were received with it.
func TestLostBodyIsNoSilence(t *testing.T) {
	for _, id := range []queue.ID{jobs, orders} {
		r := newRig(t)
		r.send(t, id, "a", "b", "c")
		tx := r.store.Begin()
		var key []byte
		err := r.store.Scan([]byte{0}, []byte{1}, func(k, v []byte) bool {
			if k[7] == byte(id) && k[8] == 'm' && bytes.HasSuffix(v, []byte("\x01c")) { // its length and the body
				key = bytes.Clone(k)
			}
			return true
		})
		if err != nil || key == nil {
			t.Fatalf("no message in the store, %v", err)
		}
		tx.Delete(key)
		if err := r.store.Commit(tx); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		r.Close()
		r = openRig(t, r.store, time.Now, func(*queue.Config) {}) // which remembers no message
		_, err = r.Receive(t.Context(), id, queue.Receive{Max: 10}, 0)
		if !errors.Is(err, shard.ErrUnavailable) || !errors.Is(err, queue.ErrDamaged) {
			t.Errorf("queue %d: %v", id, err)
		}
		equal(t, r.receive(t, id, 10, 0), "a", "b")
	}
}
