package replica_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store"
)

// flaky is a network on which every third request fails, and a node dies after a few requests.
type flaky struct {
	messenger.Messenger
	dies string

	mu    sync.Mutex
	asked int
	left  int
}

func (f *flaky) Request(ctx context.Context, node, kind string, payload []byte) ([]byte, error) {
	f.mu.Lock()
	f.asked++
	fails := f.asked%3 == 0
	if node == f.dies {
		f.left--
		fails = fails || f.left < 0
	}
	f.mu.Unlock()
	if fails {
		return nil, errors.New("connection lost")
	}
	return f.Messenger.Request(ctx, node, kind, payload)
}

func TestLateReplicaGetsACheckpoint(t *testing.T) {
	e := memory()
	network := messenger.NewMemory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	b := run(t, "b", vfs.NewMem(), e, nil)
	a.Offer(network.Node("a"))
	b.Offer(network.Node("b"))
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	for i := range uint64(50) {
		a.mustIncrement(i)
	}
	same(t, a, b)
	// Nothing is durable, so nothing is trimmed.
	if err := a.Trim(t.Context(), a.Position()); err != nil {
		t.Fatal(err)
	}
	if _, extent, err := e.Read(t.Context(), 1); err != nil || extent.First != 1 {
		t.Fatalf("the log begins at %d, %v", extent.First, err)
	}
	for _, n := range []*node{a, b} {
		if err := n.FlushStore(); err != nil {
			t.Fatal(err)
		}
		if p, err := n.Durable(); err != nil || p != n.Position() {
			t.Fatalf("%s is durable up to %d of %d, %v", n.name, p, n.Position(), err)
		}
	}
	if err := a.Trim(t.Context(), a.Position()); err != nil {
		t.Fatal(err)
	}
	a.mustIncrement(50)

	loaded := 0
	c := run(t, "c", vfs.NewMem(), e, func(o *replica.Options, h *host) {
		m := &flaky{Messenger: network.Node("c"), dies: "b", left: 4}
		h.fetch = replica.FetchFrom(m, "1", func() []string { return []string{"nobody", "b", "a"} })
		h.loaded = func(*store.Store) error { loaded++; return nil }
	})
	eventually.True(t, "c has caught up", func() bool { return c.Position() == a.Position() })
	same(t, a, c, b)
	if err := c.stop(); err != nil {
		t.Fatal(err)
	}
	if loaded != 2 {
		t.Errorf("the store was opened %d times", loaded)
	}
	// Its copy is on its disk, and equal to the others.
	c = run(t, "c", c.fs, e, nil)
	c.Want(true, 0)
	if err := a.HandOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "c owns", c.owns)
	c.mustIncrement(51)
	same(t, c, a, b)
}

// A caller that has waited for a position relies on the host's memory. So the position stays where it was until the
// host has read all of a checkpoint. The status does not wait for that.
func TestPositionWaitsForTheHostToLoadACheckpoint(t *testing.T) {
	e := memory()
	network := messenger.NewMemory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	a.Offer(network.Node("a"))
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	for i := range uint64(10) {
		a.mustIncrement(i)
	}
	end := a.Position()
	if err := errors.Join(a.FlushStore(), a.Trim(t.Context(), end)); err != nil {
		t.Fatal(err)
	}

	loads, loading, proceed := 0, make(chan struct{}), make(chan struct{})
	b := run(t, "b", vfs.NewMem(), e, func(_ *replica.Options, h *host) {
		h.fetch = replica.FetchFrom(network.Node("b"), "1", func() []string { return []string{"a"} })
		h.loaded = func(*store.Store) error {
			if loads++; loads == 2 { // the first is of the empty store
				close(loading)
				<-proceed
			}
			return nil
		}
	})
	<-loading
	if p := b.Position(); p != 0 {
		t.Errorf("the position is %d while the host loads the checkpoint", p)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if err := b.Wait(gone, end); err == nil {
		t.Error("Wait returned while the host was loading the checkpoint")
	}
	if s := b.Status(); s.Applied != end || s.Error != "" {
		t.Errorf("the status is %+v", s)
	}
	close(proceed)
	if err := b.Wait(t.Context(), end); err != nil {
		t.Error(err)
	}
	if p := b.Position(); p != end {
		t.Errorf("the position is %d, want %d", p, end)
	}
}

// A host that cannot read a batch ends the replica, and callers that wait for the batch do not count it as applied.
func TestHostThatCannotReadABatchEndsTheReplica(t *testing.T) {
	e := memory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	unreadable := errors.New("unreadable")
	b := run(t, "b", vfs.NewMem(), e, func(_ *replica.Options, h *host) {
		h.applied = func() error { return unreadable }
	})
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	a.mustIncrement(0)
	err := <-b.result
	b.result <- err
	if !errors.Is(err, unreadable) {
		t.Errorf("b has ended with %v", err)
	}
	if p, end := b.Position(), a.Position(); p >= end {
		t.Errorf("b claims to have reached %d of %d", p, end)
	}
}

// single is the disk of a single server, with a counter.
func single(t *testing.T, counter byte) *vfs.MemFS {
	t.Helper()
	fs := vfs.NewMem()
	s, err := store.Open("store", store.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	tx := s.Begin()
	defer tx.Release()
	tx.Set([]byte("counter"), []byte{0, 0, 0, 0, 0, 0, 0, counter})
	if err := errors.Join(s.Commit(tx), s.Close()); err != nil {
		t.Fatal(err)
	}
	return fs
}

func TestSingleNodeBecomesTheFirstOfACluster(t *testing.T) {
	e := memory()
	network := messenger.NewMemory()
	a := run(t, "a", single(t, 7), e, nil)
	a.Offer(network.Node("a"))
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	a.mustIncrement(7)
	b := run(t, "b", vfs.NewMem(), e, func(o *replica.Options, h *host) {
		h.fetch = replica.FetchFrom(network.Node("b"), "1", func() []string { return []string{"a"} })
	})
	b.Want(true, 0)
	if err := b.Wait(t.Context(), a.Position()); err != nil {
		t.Fatal(err)
	}
	if err := a.stop(); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "b owns", b.owns)
	b.mustIncrement(8)
}

// A node's own data is not mixed with a cluster's.
func TestDataOfAnotherPastIsRefused(t *testing.T) {
	e := memory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	a.mustIncrement(0)
	b := run(t, "b", single(t, 7), e, nil)
	if err := <-b.result; !errors.Is(err, replica.ErrDiverged) {
		t.Errorf("b has ended with %v", err)
	} else {
		b.result <- err
	}
	if s := b.Status(); s.Role != replica.Stopped || s.Error == "" {
		t.Errorf("%+v", s)
	}
	a.mustIncrement(1)
}

func TestReplicaWithoutASourceStops(t *testing.T) {
	e := memory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	a.mustIncrement(0)
	if err := errors.Join(a.FlushStore(), a.Trim(t.Context(), a.Position())); err != nil {
		t.Fatal(err)
	}
	b := run(t, "b", vfs.NewMem(), e, nil)
	err := <-b.result
	b.result <- err
	if err == nil {
		t.Error("b has ended without an error")
	}
}

// A host that keeps a part of the store in memory can refuse a store that it cannot use.
func TestStoreThatCannotBeLoadedIsAnError(t *testing.T) {
	unusable := errors.New("unusable")
	a := run(t, "a", vfs.NewMem(), memory(), func(o *replica.Options, h *host) {
		h.loaded = func(*store.Store) error { return unusable }
	})
	err := <-a.result
	a.result <- err
	if !errors.Is(err, unusable) {
		t.Errorf("a has ended with %v", err)
	}
}
