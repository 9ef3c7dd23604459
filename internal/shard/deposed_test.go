package shard_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// owned is a shard that another node may take over.
type owned struct {
	*shard.Shard
	commits, confirms atomic.Pointer[error] // the errors that they return
	sizes             chan int              // the commits so far
}

func openOwned(t *testing.T) *owned {
	t.Helper()
	st := storetest.Memory(t)
	o := &owned{sizes: make(chan int, 1000)}
	var err error
	o.Shard, err = shard.Open(shard.Options{
		Store: st,
		Configs: func() []queue.Config {
			return []queue.Config{{ID: jobs, ARN: "arn:aws:sqs:us-east-1:000000000000:jobs", Visibility: time.Minute,
				Retention: time.Hour}}
		},
		Commit: func(tx *store.Txn) error {
			if err := o.commits.Load(); err != nil {
				return *err
			}
			o.sizes <- tx.Size()
			return st.Commit(tx)
		},
		Confirm: func() error {
			if err := o.confirms.Load(); err != nil {
				return *err
			}
			return nil
		},
		MaxCommit: 10_000,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	return o
}

func TestDeposedShardAnswersEverybodyWithThat(t *testing.T) {
	deposed := fmt.Errorf("%w: by a test", shard.ErrDeposed)
	isDeposed := func(t *testing.T, who string, err error) {
		t.Helper()
		if !errors.Is(err, shard.ErrUnavailable) || !errors.Is(err, shard.ErrDeposed) {
			t.Errorf("%s: %v", who, err)
		}
	}
	// The poll must be queued before any other request.
	poll := func(t *testing.T, o *owned) <-chan error {
		t.Helper()
		done := later(func() error {
			_, err := o.Receive(t.Context(), jobs, queue.Receive{Max: 1}, 20*time.Second)
			return err
		})
		for range 10 {
			if _, err := o.Counts(t.Context(), jobs); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		return done
	}
	ways := map[string]func(t *testing.T, o *owned) error{
		"a commit": func(t *testing.T, o *owned) error {
			o.commits.Store(&deposed)
			_, err := o.Send(t.Context(), jobs, []queue.Outgoing{{Body: "x"}})
			return err
		},
		"an answer from memory": func(t *testing.T, o *owned) error {
			o.confirms.Store(&deposed)
			_, err := o.Counts(t.Context(), jobs)
			return err
		},
	}
	for way, depose := range ways {
		t.Run(way, func(t *testing.T) {
			o := openOwned(t)
			waiting := poll(t, o)
			isDeposed(t, "the first caller", depose(t, o))
			select {
			case err := <-waiting:
				isDeposed(t, "a waiting caller", err)
			case <-time.After(wait):
				t.Fatal("a long poll was not answered")
			}
			// The shard does not recover when the store can be written again.
			o.commits.Store(nil)
			o.confirms.Store(nil)
			_, err := o.Send(t.Context(), jobs, []queue.Outgoing{{Body: "x"}})
			isDeposed(t, "a later send", err)
			_, err = o.Receive(t.Context(), jobs, queue.Receive{Max: 1}, time.Second)
			isDeposed(t, "a later receive", err)
			isDeposed(t, "a later change of the queue", o.Drop(t.Context(), jobs))
		})
	}
}

func TestCommitHasASize(t *testing.T) {
	o := openOwned(t)
	block := make(chan struct{})
	var done []<-chan error
	body := strings.Repeat("b", 4000)
	for range 20 {
		done = append(done, later(func() error {
			<-block
			_, err := o.Send(t.Context(), jobs, []queue.Outgoing{{Body: body}})
			return err
		}))
	}
	close(block)
	for _, d := range done {
		if err := <-d; err != nil {
			t.Fatal(err)
		}
	}
	for len(o.sizes) > 0 {
		if n := <-o.sizes; n > 10_000+len(body)+1000 {
			t.Errorf("a commit of %d bytes", n)
		}
	}
}
