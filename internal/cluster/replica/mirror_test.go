package replica_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store"
)

// mirror is a node whose host also keeps the counter in memory, as the host of the control shard keeps the catalog.
// Other parts of a node read that memory when the replica reports that it has reached a position.
type mirror struct {
	*node
	counter atomic.Uint64 // the host's copy
	behind  atomic.Int64  // how often the copy was out of date when Loaded was called
}

// runMirror runs a node that gets its checkpoints from the others.
func runMirror(t *testing.T, name string, fs *vfs.MemFS, e engine, network *messenger.Memory) *mirror {
	t.Helper()
	m := new(mirror)
	running := make(chan struct{}) // closed when m.node is set
	m.node = run(t, name, fs, e, func(o *replica.Options, h *host) {
		h.loaded = func(s *store.Store) error {
			<-running
			return m.load(s)
		}
		h.applied = func() error { m.counter.Add(1); return nil }
		h.fetch = replica.FetchFrom(network.Node(name), "1", func() []string { return []string{"a", "b"} })
	})
	close(running)
	return m
}

// load updates the copy. Until then, the replica must not report the store's position as the node's.
func (m *mirror) load(s *store.Store) error {
	value, err := s.Get([]byte("counter"))
	if err != nil {
		return err
	}
	counter := uint64(0)
	if value != nil {
		counter = binary.BigEndian.Uint64(value)
	}
	if m.counter.Load() != counter {
		m.behind.Add(1)
		at := sharedlog.Position(s.Mark().Position)
		if p := m.Position(); p >= at {
			m.t.Errorf("node %s claims to have reached %d, with a copy that holds %d of %d", m.name, p,
				m.counter.Load(), counter)
		}
		over, cancel := context.WithCancel(context.Background())
		cancel()
		if err := m.Wait(over, at); err == nil {
			m.t.Errorf("node %s: the wait for %d is over, with a copy that holds %d of %d", m.name, at,
				m.counter.Load(), counter)
		}
	}
	m.counter.Store(counter)
	return nil
}

// The position of a replica is never ahead of its host's memory, whether the store comes from this node's disk, an
// empty one, or a checkpoint, which replaces records that the log no longer holds.
func TestPositionIsNotAheadOfTheHost(t *testing.T) {
	behind := int64(0)
	for seed := range uint64(5) {
		behind += driveMirrors(t, rand.New(rand.NewPCG(seed, 0)))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if behind == 0 {
		t.Error("no copy was ever out of date when a store was loaded")
	}
}

func driveMirrors(t *testing.T, rng *rand.Rand) (behind int64) {
	e := memory()
	network := messenger.NewMemory()
	a := runMirror(t, "a", vfs.NewMem(), e, network)
	b := runMirror(t, "b", vfs.NewMem(), e, network)
	c := runMirror(t, "c", vfs.NewMem(), e, network)
	a.Offer(network.Node("a"))
	b.Offer(network.Node("b"))
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	count := uint64(0)
	for range 6 {
		disk := c.fs
		if rng.IntN(3) == 0 {
			disk = vfs.NewMem()
		}
		if err := c.stop(); err != nil {
			t.Fatal(err)
		}
		behind += c.behind.Load()
		for range 1 + rng.IntN(20) {
			a.mustIncrement(count)
			count++
		}
		if rng.IntN(3) > 0 {
			eventually.True(t, "b has caught up", func() bool { return b.Position() == a.Position() })
			if err := errors.Join(a.FlushStore(), b.FlushStore(), a.Trim(t.Context(), a.Position())); err != nil {
				t.Fatal(err)
			}
		}
		c = runMirror(t, "c", disk, e, network)
		if err := c.Wait(t.Context(), a.Position()); err != nil {
			t.Fatal(err)
		}
		if got := c.counter.Load(); got < count {
			t.Errorf("c has reached the end, and its copy holds %d of %d", got, count)
		}
	}
	return behind + c.behind.Load()
}
