package shard_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// counted is a shard that keeps series of one queue.
type counted struct {
	*shard.Shard
	*testing.T
	store   *store.Store
	config  queue.Config
	commits atomic.Int64
}

func newCounted(t *testing.T) *counted {
	t.Helper()
	st := storetest.Memory(t)
	r := &counted{T: t, store: st, config: queue.Config{ID: jobs, ARN: "arn:aws:sqs:us-east-1:000000000000:jobs"}}
	var err error
	r.Shard, err = shard.Open(shard.Options{
		Store: st, Keep: queue.DefaultKeep, Configs: func() []queue.Config { return []queue.Config{r.config} },
		Commit: func(tx *store.Txn) error {
			r.commits.Add(1)
			return st.Commit(tx)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

// written returns the number of durable empty receives.
func (r *counted) written() int64 {
	r.Helper()
	happened, err := queue.Happened(r.store, []queue.Config{r.config})
	if err != nil {
		r.Fatal(err)
	}
	return happened[r.config.ARN][queue.MetricEmptyReceives]
}

// Empty receives are written even if nothing else happens, many of them in one commit.
func TestEmptyReceivesAreWritten(t *testing.T) {
	t.Parallel()
	r := newCounted(t)
	for range 100 {
		r.EmptyReceive(jobs)
	}
	if err := r.EmptyReceives(context.Background(), jobs, 20); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the empty receives are written", func() bool { return r.written() == 120 })
	if n := r.commits.Load(); n > 10 { // one, or a few on a machine that stops for seconds
		t.Errorf("%d commits", n)
	}
}

// A closing shard writes the counted empty receives.
func TestCloseWritesEmptyReceives(t *testing.T) {
	t.Parallel()
	r := newCounted(t)
	r.EmptyReceive(jobs)
	r.Close()
	if n := r.written(); n != 1 {
		t.Errorf("%d empty receives are written", n)
	}
}
