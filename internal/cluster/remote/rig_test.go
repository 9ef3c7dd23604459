package remote_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

const (
	jobs   queue.ID = 1
	orders queue.ID = 2

	here, there = "here", "there"
	number      = 7
	// patience is longer than anything in these tests takes.
	testTimeout = 20 * time.Second
)

var errElsewhere = errors.New("another node has it")

// rig is a shard on one node and a client of it on another.
type rig struct {
	*remote.Client
	shard   *shard.Shard
	network *messenger.Memory
	// on stands in front of the shard; nil means that the node does not own it.
	on       atomic.Pointer[remote.Shard]
	position atomic.Uint64 // of the caller
	applied  atomic.Uint64 // by the owner
}

func newRig(t testing.TB) *rig {
	t.Helper()
	st, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sh, err := shard.Open(shard.Options{Store: st, Configs: func() []queue.Config {
		c := queue.Config{
			ID: jobs, ARN: "arn:aws:sqs:us-east-1:000000000000:jobs", Visibility: time.Hour, Retention: 24 * time.Hour,
		}
		f := c
		f.ID, f.ARN, f.FIFO = orders, c.ARN+".fifo", true
		return []queue.Config{c, f}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		sh.Close()
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	r := &rig{shard: sh, network: messenger.NewMemory()}
	r.own(sh)
	remote.Serve(r.network.Node(there), remote.ServerOptions{
		Lookup: func(n int) (remote.Shard, error) {
			if s := r.on.Load(); s != nil && n == number {
				return *s, nil
			}
			return nil, errElsewhere
		},
		Wait: func(ctx context.Context, position uint64) error {
			for r.applied.Load() < position {
				select {
				case <-time.After(time.Millisecond):
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		},
		WaitTimeout: 50 * time.Millisecond,
	})
	r.Client = remote.New(remote.Options{
		Messenger: r.network.Node(here), Position: r.position.Load, Timeout: testTimeout,
	}).Shard(there, number)
	return r
}

func (r *rig) own(s remote.Shard) {
	if s == nil {
		r.on.Store(nil)
		return
	}
	r.on.Store(&s)
}

func (r *rig) send(t testing.TB, id queue.ID, bodies ...string) {
	t.Helper()
	for _, b := range bodies {
		m := queue.Outgoing{Body: b}
		if id == orders {
			m.Group, m.Dedup = "g", b
		}
		if _, err := r.Send(context.Background(), id, []queue.Outgoing{m}); err != nil {
			t.Fatal(err)
		}
	}
}

func (r *rig) counts(t testing.TB, id queue.ID) queue.Counts {
	t.Helper()
	c, err := r.shard.Counts(context.Background(), id)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// settle waits until nothing of a queue is in flight.
func (r *rig) settle(t testing.TB, id queue.ID) {
	t.Helper()
	eventually.True(t, "back from flight", func() bool { return r.counts(t, id).InFlight == 0 })
}

// reappears waits until this many messages of a queue are visible.
func (r *rig) reappears(t testing.TB, id queue.ID, n int) {
	t.Helper()
	eventually.True(t, "visible again", func() bool { return r.counts(t, id).Visible == uint64(n) })
}

// late delays its answers until it is released.
type late struct {
	remote.Shard
	begun, release chan struct{}
}

func newLate(s remote.Shard) *late {
	return &late{Shard: s, begun: make(chan struct{}, 16), release: make(chan struct{})}
}

func (l *late) Receive(ctx context.Context, id queue.ID, r queue.Receive, wait time.Duration) ([]shard.Message, error) {
	// The messages of the shard are already on their way: the end of ctx comes too late.
	got, err := l.Shard.Receive(context.WithoutCancel(ctx), id, r, wait)
	l.begun <- struct{}{}
	<-l.release
	return got, err
}

func (l *late) Send(ctx context.Context, id queue.ID, m []queue.Outgoing) ([]queue.Sent, error) {
	sent, err := l.Shard.Send(ctx, id, m)
	l.begun <- struct{}{}
	<-l.release
	return sent, err
}
