package shard_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// bounded is a shard whose commits have a maximum size.
type bounded struct {
	*shard.Shard
	refused atomic.Int64
	longest atomic.Int64
	stall   atomic.Pointer[chan struct{}] // commits wait until it is closed
	stalled chan struct{}
}

func openBounded(t *testing.T, maxCommit, longest int, configs ...queue.Config) *bounded {
	t.Helper()
	st := storetest.Memory(t)
	b := &bounded{stalled: make(chan struct{}, 100)}
	var err error
	b.Shard, err = shard.Open(shard.Options{
		Store: st, MaxCommit: maxCommit, Configs: func() []queue.Config { return configs },
		Commit: func(tx *store.Txn) error {
			if c := b.stall.Load(); c != nil {
				b.stalled <- struct{}{}
				<-*c
			}
			b.longest.Store(max(b.longest.Load(), int64(tx.Size())))
			if tx.Size() > longest {
				b.refused.Add(1)
				return fmt.Errorf("%w: %d bytes", store.ErrTooLong, tx.Size())
			}
			return st.Commit(tx)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// together runs calls in one transaction: they arrive while the commit of another call is stalled. It returns their
// results.
func (b *bounded) together(t *testing.T, calls ...func() error) (results []<-chan error) {
	t.Helper()
	let := make(chan struct{})
	b.stall.Store(&let)
	first := later(func() error { return b.Probe(t.Context()) })
	<-b.stalled
	b.stall.Store(nil)
	for n, f := range calls {
		results = append(results, later(f))
		eventually.True(t, "it comes", func() bool { return b.Waiting() > n })
	}
	close(let)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	return results
}

// Long polls that move large messages to a dead-letter queue share a transaction only as far as it has room.
func TestPollsDoNotOutgrowATransaction(t *testing.T) {
	t.Parallel()
	const queues, maxCommit, record = 16, 512 << 10, 12 << 20
	configs := []queue.Config{{ID: letters, ARN: arn(letters), Retention: time.Hour}}
	for id := queue.ID(100); id < 100+queues; id++ {
		configs = append(configs, queue.Config{
			ID: id, ARN: arn(id), Retention: time.Hour, Visibility: time.Hour,
			Redrive: &queue.Redrive{Target: arn(letters), MaxReceives: 1},
		})
	}
	b := openBounded(t, maxCommit, record, configs...)
	body := strings.Repeat("x", 1<<20)
	var polls []<-chan error
	var shows []func() error
	for id := queue.ID(100); id < 100+queues; id++ {
		if _, err := b.Send(t.Context(), id, []queue.Outgoing{{Body: body}}); err != nil {
			t.Fatal(err)
		}
		got, err := b.Receive(t.Context(), id, queue.Receive{Max: 1}, 0)
		if err != nil || len(got) != 1 {
			t.Fatal(len(got), err)
		}
		polls = append(polls, later(func() error {
			got, err := b.Receive(t.Context(), id, queue.Receive{Max: 1}, wait)
			if err == nil && bodies(got)[0] != "after" {
				err = fmt.Errorf("queue %d returned %d messages", id, len(got))
			}
			return err
		}))
		eventually.True(t, "it comes", func() bool { return b.Polls() == len(polls) })
		shows = append(shows, func() error {
			_, err := b.ChangeVisibility(t.Context(), id,
				[]queue.Visibility{{Receipt: queue.Receipt{Position: got[0].Position, Number: got[0].Receipt}}})
			return err
		})
	}
	for _, done := range b.together(t, shows...) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for i, done := range polls {
		if _, err := b.Send(t.Context(), 100+queue.ID(i), []queue.Outgoing{{Body: "after"}}); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n, err := b.Counts(t.Context(), letters); n.Visible != queues || err != nil {
		t.Errorf("%d dead letters, %v", n.Visible, err)
	}
	if n := b.longest.Load(); n > 4<<20 {
		t.Errorf("a transaction of %d bytes", n)
	}
}

// A transaction that is too long to commit is divided: the part that exceeds the limit is refused, and all others are
// carried out.
func TestTooLongTransactionIsDivided(t *testing.T) {
	t.Parallel()
	c := queue.Config{Retention: time.Hour, Visibility: time.Hour}
	a, d, other := c, c, c
	a.ID, a.ARN, a.Redrive = source, arn(source), &queue.Redrive{Target: arn(letters), MaxReceives: 1}
	d.ID, d.ARN = letters, arn(letters)
	other.ID, other.ARN = jobs, arn(jobs)

	send := func(b *bounded, id queue.ID, size int) func() error {
		return func() error {
			_, err := b.Send(t.Context(), id, []queue.Outgoing{{Body: strings.Repeat("x", size)}})
			return err
		}
	}
	t.Run("a request", func(t *testing.T) {
		t.Parallel()
		b := openBounded(t, 10<<20, 100<<10, a, d, other)
		var calls []func() error
		for range 8 {
			calls = append(calls, send(b, jobs, 1000))
		}
		calls = append(calls, send(b, jobs, 200<<10), send(b, jobs, 1000))
		poll := later(func() error {
			got, err := b.Receive(t.Context(), jobs, queue.Receive{Max: 1}, wait)
			if err == nil && len(got) != 1 {
				err = errors.New("no message")
			}
			return err
		})
		eventually.True(t, "it comes", func() bool { return b.Polls() == 1 })
		for i, done := range b.together(t, calls...) {
			if err := <-done; (i == 8) != errors.Is(err, queue.ErrTooLong) || i != 8 && err != nil {
				t.Errorf("call %d: %v", i, err)
			}
		}
		if err := <-poll; err != nil {
			t.Error(err)
		}
		if n, err := b.Counts(t.Context(), jobs); n.Visible+n.InFlight != 9 || err != nil {
			t.Errorf("%+v, %v", n, err)
		}
		if n := b.refused.Load(); n != 1 {
			t.Errorf("%d transactions were too long", n)
		}
	})
	t.Run("many requests", func(t *testing.T) {
		t.Parallel()
		b := openBounded(t, 10<<20, 100<<10, a, d, other)
		var calls []func() error
		for range 20 {
			calls = append(calls, send(b, jobs, 20<<10))
		}
		failed := uint64(0)
		for _, done := range b.together(t, calls...) {
			if err := <-done; errors.Is(err, queue.ErrTooLong) {
				failed++
			} else if err != nil {
				t.Error(err)
			}
		}
		n, err := b.Counts(t.Context(), jobs)
		if n.Visible+failed != 20 || n.Visible < 4 || err != nil {
			t.Errorf("%d failed, and there are %+v, %v", failed, n, err)
		}
	})
	t.Run("a poll", func(t *testing.T) {
		t.Parallel()
		b := openBounded(t, 10<<20, 100<<10, a, d, other)
		for range 3 {
			if err := send(b, source, 40<<10)(); err != nil {
				t.Fatal(err)
			}
		}
		got, err := b.Receive(t.Context(), source, queue.Receive{Max: 10}, 0)
		if err != nil || len(got) != 3 {
			t.Fatal(len(got), err)
		}
		poll := later(func() error {
			_, err := b.Receive(t.Context(), source, queue.Receive{Max: 1}, wait)
			return err
		})
		eventually.True(t, "it comes", func() bool { return b.Polls() == 1 })
		var all []queue.Visibility
		for _, m := range got {
			all = append(all, queue.Visibility{Receipt: queue.Receipt{Position: m.Position, Number: m.Receipt}})
		}
		if results, err := b.ChangeVisibility(t.Context(), source, all); err != nil || errors.Join(results...) != nil {
			t.Fatal(results, err)
		}
		if err := <-poll; !errors.Is(err, queue.ErrTooLong) {
			t.Error(err)
		}
		if err := send(b, jobs, 1000)(); err != nil {
			t.Error(err)
		}
		if n := b.refused.Load(); n != 1 {
			t.Errorf("%d transactions were too long", n)
		}
	})
	t.Run("due work", func(t *testing.T) {
		t.Parallel()
		b := openBounded(t, 10<<20, 100<<10, a, d, other)
		for range 10 {
			if err := send(b, source, 40<<10)(); err != nil {
				t.Fatal(err)
			}
		}
		if err := b.StartMove(t.Context(), source, queue.MoveTask{ID: "task", Destination: arn(jobs)}); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "it comes", func() bool {
			n, err := b.Counts(t.Context(), jobs)
			return err == nil && n.Visible == 10
		})
	})
}
