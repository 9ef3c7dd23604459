package shard_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// disk is a disk that can be full, or fail.
type disk struct {
	*store.Disk
	refuses atomic.Pointer[syscall.Errno]
}

func newDisk() *disk {
	d := &disk{}
	d.Disk = store.NewDisk(errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if errno := d.refuses.Load(); errno != nil && (op.Kind == errorfs.OpFileWrite || op.Kind == errorfs.OpCreate) {
			return *errno
		}
		return nil
	})), nil)
	return d
}

func (d *disk) refuse(errno syscall.Errno) { d.refuses.Store(&errno) }

// heal makes the disk writable, and waits until that is known.
func (d *disk) heal(t *testing.T) {
	t.Helper()
	d.refuses.Store(nil)
	eventually.Succeeds(t, func() error { return d.Writable().Err() })
}

// later runs f in another goroutine and returns its error.
func later(f func() error) <-chan error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	return done
}

// refusedFor checks that a caller soon gets the error for a blocked disk.
func refusedFor(t *testing.T, who string, done <-chan error) {
	t.Helper()
	select {
	case err := <-done:
		blocked, ok := errors.AsType[*shard.BlockedError](err)
		if !ok || !errors.Is(err, shard.ErrUnavailable) || blocked.Reason != "it is full" {
			t.Errorf("%s: %v", who, err)
		}
	case <-time.After(wait):
		t.Fatalf("%s: not answered", who)
	}
}

func (r *rig) sendOne(body string) error {
	_, err := r.Send(context.Background(), jobs, []queue.Outgoing{{Body: body}})
	return err
}

func TestCallersDoNotWaitForABlockedDisk(t *testing.T) {
	d := newDisk()
	r := newRigOn(t, store.Options{Disk: d.Disk})
	r.send(t, jobs, "a", "b")
	poll := later(func() error {
		_, err := r.Receive(context.Background(), orders, queue.Receive{Max: 1}, wait)
		return err
	})
	// The owner waits before the commit of c; d comes too late for it.
	at, proceed := make(chan struct{}, 10), make(chan struct{})
	hold := func() error { at <- struct{}{}; <-proceed; return nil }
	r.commit.Store(&hold)
	c := later(func() error { return r.sendOne("c") })
	<-at
	behind := later(func() error { return r.sendOne("d") })
	time.Sleep(20 * time.Millisecond) // or it is refused on arrival, which is equivalent
	d.refuse(syscall.ENOSPC)
	close(proceed)

	refusedFor(t, "a send whose commit is under way", c)
	refusedFor(t, "a send behind it", behind)
	refusedFor(t, "a long poll", poll)
	commits := r.commits.Load()
	for range 2 * 1024 { // more than the shard would accept
		if err := r.sendOne("e"); !errors.Is(err, shard.ErrUnavailable) {
			t.Fatalf("a new send: %v", err)
		}
	}
	refusedFor(t, "a new receive", later(func() error {
		_, err := r.Receive(context.Background(), jobs, queue.Receive{Max: 1}, wait)
		return err
	}))
	refusedFor(t, "a probe", later(func() error { return r.Probe(context.Background()) }))
	r.Drain() // returns, too
	if n := r.commits.Load(); n != commits {
		t.Errorf("%d commits meanwhile", n-commits)
	}

	d.heal(t)
	r.commit.Store(nil)
	equal(t, r.receive(t, jobs, 10, 0), "a", "b", "c")
}

// A receive that was abandoned has taken no message.
func TestReceiveThatWasGivenUpIsTakenBack(t *testing.T) {
	for name, id := range map[string]queue.ID{"standard": jobs, "FIFO": orders} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			r := newRigOn(t, store.Options{Disk: d.Disk})
			r.send(t, id, "a", "b")
			d.refuse(syscall.ENOSPC)
			refusedFor(t, "the receive", later(func() error {
				_, err := r.Receive(context.Background(), id, queue.Receive{Max: 10}, 0)
				return err
			}))
			d.heal(t)
			var got []shard.Message
			for end := time.Now().Add(wait); len(got) < 2; {
				more, err := r.Receive(t.Context(), id, queue.Receive{Max: 10}, time.Second)
				if err != nil || time.Now().After(end) {
					t.Fatalf("received %v, %v; their visibility timeout is 30 seconds", bodies(got), err)
				}
				got = append(got, more...)
			}
			all := bodies(got)
			slices.Sort(all)
			equal(t, all, "a", "b")
			for _, m := range got {
				if m.ReceiveCount() != 1 {
					t.Errorf("%s: receive count %d", m.Body, m.ReceiveCount())
				}
			}
		})
	}
}

// The shard learns of changes that the catalog has already made, however long it takes.
func TestConfigureWaitsForABlockedDisk(t *testing.T) {
	d := newDisk()
	r := newRigOn(t, store.Options{Disk: d.Disk})
	d.refuse(syscall.ENOSPC)
	refusedFor(t, "the send that finds out", later(func() error { return r.sendOne("a") }))
	made := later(func() error {
		return r.Configure(context.Background(), queue.Config{
			ID: unknown, ARN: "arn:new", Visibility: time.Second, Retention: time.Hour,
		})
	})
	gone := later(func() error { return r.Drop(context.Background(), orders) })
	select {
	case err := <-made:
		t.Errorf("a queue is created: %v", err)
	case err := <-gone:
		t.Errorf("a queue is dropped: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	d.heal(t)
	if err := errors.Join(<-made, <-gone); err != nil {
		t.Error(err)
	}
	r.send(t, unknown, "m")
	if _, err := r.Counts(t.Context(), orders); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("the dropped queue: %v", err)
	}
}

func TestCloseOfAShardDoesNotWaitForABlockedDisk(t *testing.T) {
	d := newDisk()
	st, err := store.Open("db", store.Options{Disk: d.Disk})
	if err != nil {
		t.Fatal(err)
	}
	s, err := shard.Open(shard.Options{Store: st, Configs: func() []queue.Config {
		return []queue.Config{{ID: jobs, ARN: "arn:jobs", Retention: time.Hour}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	d.refuse(syscall.EIO)
	if _, err := s.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m"}}); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("send: %v", err)
	}
	d.refuses.Store(nil)
	if _, err := s.Send(t.Context(), jobs, []queue.Outgoing{{Body: "m"}}); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("a send after the failure: %v", err)
	}
	if err := s.Drop(t.Context(), jobs); !errors.Is(err, shard.ErrUnavailable) {
		t.Errorf("a drop after the failure: %v", err)
	}
	s.Close()
	if err := st.Close(); err == nil {
		t.Error("the store closes without an error")
	}
}

// The disk is full again and again while producers and consumers work. Acknowledged messages are received, and exactly
// once if they are then deleted.
func TestDiskThatIsFullAgainAndAgain(t *testing.T) {
	d := newDisk()
	r := newRigOn(t, store.Options{Disk: d.Disk})
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	acknowledged, doubtful, deleted := make(map[string]bool), make(map[string]bool), make(map[string]bool)
	consume := func(wait time.Duration) (int, error) {
		got, err := r.Receive(context.Background(), jobs, queue.Receive{Max: 5}, wait)
		if err != nil {
			return 0, err
		}
		mu.Lock()
		for _, m := range got {
			if deleted[m.Body] {
				t.Errorf("%s comes after its delete", m.Body)
			}
		}
		mu.Unlock()
		for _, m := range got {
			// Again until the result is certain: the handle stays valid that long.
			for {
				_, err := r.Delete(context.Background(), jobs,
					[]queue.Receipt{{Position: m.Position, Number: m.Receipt}})
				if err == nil {
					break
				}
				time.Sleep(time.Millisecond)
			}
			mu.Lock()
			deleted[m.Body] = true
			mu.Unlock()
		}
		return len(got), nil
	}
	var all sync.WaitGroup
	for p := range 4 {
		all.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				body := fmt.Sprintf("%d/%d", p, n)
				err := r.sendOne(body)
				mu.Lock()
				if err == nil {
					acknowledged[body] = true
				} else {
					doubtful[body] = true
				}
				mu.Unlock()
				time.Sleep(time.Millisecond)
			}
		})
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := consume(10 * time.Millisecond); err != nil {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	for range 5 {
		time.Sleep(50 * time.Millisecond)
		c := d.Writable()
		d.refuse(syscall.ENOSPC)
		<-c.Blocked()
		time.Sleep(20 * time.Millisecond)
		d.heal(t)
	}
	stop()
	all.Wait()
	for end := time.Now().Add(wait); ; {
		if _, err := consume(10 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		counts, err := r.Counts(t.Context(), jobs)
		if err != nil {
			t.Fatal(err)
		}
		if counts.Visible+counts.InFlight+counts.Delayed == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("left: %+v; the visibility timeout is 30 seconds", counts)
		}
	}
	for body := range acknowledged {
		if !deleted[body] {
			t.Errorf("%s is lost", body)
		}
	}
	for body := range deleted {
		if !acknowledged[body] && !doubtful[body] {
			t.Errorf("%s was not sent", body)
		}
	}
	t.Logf("%d acknowledged, %d in doubt", len(acknowledged), len(doubtful))
}
