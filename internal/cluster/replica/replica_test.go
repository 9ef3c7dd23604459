package replica_test

import (
	"context"
	"encoding/binary"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/store"
)

// node is a replica in a test. Its owner serves a counter.
type node struct {
	t    *testing.T
	name string
	fs   *vfs.MemFS
	*replica.Replica

	cancel context.CancelFunc
	result chan error

	mu      sync.Mutex
	o       *replica.Ownership // while it serves
	applied atomic.Int64       // batches
}

// engine is a test's log and leases, as one node sees them.
type engine struct {
	sharedlog.Log
	sharedlog.Leases
}

func memory() engine {
	m := sharedlog.NewMemory(time.Second, nil)
	return engine{m.Log("1"), m}
}

func run(t *testing.T, name string, fs *vfs.MemFS, e engine, change func(*replica.Options, *host)) *node {
	t.Helper()
	n := &node{t: t, name: name, fs: fs, result: make(chan error, 1)}
	h := &host{serve: n.serve, applied: func() error { n.applied.Add(1); return nil }}
	o := replica.Options{
		Name: "1", Node: name, Dir: "store", Storage: store.Options{FS: fs},
		Log: e.Log, Leases: e.Leases,
		Host:   h,
		Logger: slog.New(slog.NewTextHandler(t.Output(), nil)).With("node", name),
	}
	if change != nil {
		change(&o, h)
	}
	n.Replica = replica.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	go func() { n.result <- n.Run(ctx) }()
	t.Cleanup(func() { _ = n.stop() })
	return n
}

// serve lets the test commit while the node is the owner.
func (n *node) serve(o *replica.Ownership) (stop func(), err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.o = o
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.o = nil
	}, nil
}

// host is a replica.Host made of functions, which except for serve may be nil.
type host struct {
	serve   func(o *replica.Ownership) (stop func(), err error)
	loaded  func(*store.Store) error
	applied func() error
	fetch   func(context.Context, *store.Incoming) error
}

func (h *host) Loaded(s *store.Store) error {
	if h.loaded == nil {
		return nil
	}
	return h.loaded(s)
}

func (h *host) Applied([]byte, sharedlog.Position) error {
	if h.applied == nil {
		return nil
	}
	return h.applied()
}

func (h *host) Prepare(context.Context) error                       { return nil }
func (h *host) Claimed(context.Context) error                       { return nil }
func (h *host) Serve(o *replica.Ownership) (stop func(), err error) { return h.serve(o) }

func (h *host) Fetch(ctx context.Context, in *store.Incoming) error {
	if h.fetch == nil {
		return replica.ErrNoSource
	}
	return h.fetch(ctx, in)
}

// stop ends the node and returns the result of Run.
func (n *node) stop() error {
	n.cancel()
	err := <-n.result
	n.result <- err
	return err
}

// increment adds one to the counter and returns its previous value.
func (n *node) increment() (uint64, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.o == nil {
		return 0, replica.ErrDeposed
	}
	tx := n.o.Store().Begin()
	defer tx.Release()
	was, err := tx.Get([]byte("counter"))
	if err != nil {
		return 0, err
	}
	value := uint64(0)
	if was != nil {
		value = binary.BigEndian.Uint64(was)
	}
	tx.Set([]byte("counter"), binary.BigEndian.AppendUint64(nil, value+1))
	return value, n.o.Commit(tx)
}

func (n *node) owns() bool { return n.Role() == replica.Owner }

func (n *node) mustIncrement(want uint64) {
	n.t.Helper()
	if got, err := n.increment(); err != nil || got != want {
		n.t.Fatalf("node %s: got %d, %v, want %d", n.name, got, err, want)
	}
}

// same waits until the nodes have the same state. An owner that was held up may at any time append an empty record to
// prove that it still owns the shard.
func same(t *testing.T, nodes ...*node) {
	t.Helper()
	for _, n := range nodes {
		var a, b replica.Status
		eventually.True(t, "they have the same", func() bool {
			a, b = nodes[0].Status(), n.Status()
			return a.Applied == b.Applied
		})
		if a.Hash != b.Hash || replica.Parted(a, b) != 0 {
			t.Errorf("%+v\n%+v", a, b)
		}
	}
}

func TestShardMovesFromNodeToNode(t *testing.T) {
	e := memory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	b := run(t, "b", vfs.NewMem(), e, nil)
	c := run(t, "c", vfs.NewMem(), e, nil)
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	for i := range uint64(100) {
		a.mustIncrement(i)
		if p := a.Position(); p != sharedlog.Position(i+2) {
			t.Fatalf("after commit %d the position is %d", i, p)
		}
	}
	same(t, a, b, c)

	// A planned hand-over.
	b.Want(true, 0)
	if err := a.HandOver(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := a.increment(); !errors.Is(err, replica.ErrDeposed) {
		t.Errorf("a after it has handed over: %v", err)
	}
	b.Nudge()
	eventually.True(t, "b owns", b.owns)
	b.mustIncrement(100)

	// A failover, because the owner has died.
	c.Want(true, 0)
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "c owns", c.owns)
	c.mustIncrement(101)
	same(t, c, a)

	// And back, from the node's own disk.
	b = run(t, "b", b.fs, e, nil)
	same(t, c, b)
	if node, epoch, ok := b.Owner(); !ok || node != "c" || epoch != 3 {
		t.Errorf("the owner is %s in epoch %d", node, epoch)
	}
	if a.Position() != 105 {
		t.Errorf("there are %d records", a.Position())
	}
	if got := a.applied.Load(); got != 102 {
		t.Errorf("a got %d batches", got)
	}
}

func TestDeposedOwnerCannotCommit(t *testing.T) {
	e := memory()
	lost := &lossy{Leases: e.Leases}
	a := run(t, "a", vfs.NewMem(), engine{e.Log, lost}, nil)
	b := run(t, "b", vfs.NewMem(), e, nil)
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	a.mustIncrement(0)
	a.mu.Lock()
	o := a.o
	a.mu.Unlock()
	if err := o.Confirm(); err != nil {
		t.Errorf("the owner cannot answer: %v", err)
	}
	lost.set(errors.New("no connection"))
	b.Want(true, 0)
	eventually.True(t, "b owns", b.owns)
	if err := o.Confirm(); !errors.Is(err, replica.ErrDeposed) {
		t.Errorf("a may still answer: %v", err)
	}
	tx := o.Store().Begin()
	defer tx.Release()
	tx.Set([]byte("counter"), []byte("nonsense"))
	if err := o.Commit(tx); !errors.Is(err, replica.ErrDeposed) {
		t.Errorf("a has committed: %v", err)
	}
	b.mustIncrement(1)
	same(t, b, a)
}

// Only a transaction that fits into no record is refused: the owner stays the owner, and nothing reaches the log.
func TestTransactionThatIsTooLongCostsNoOwnership(t *testing.T) {
	e := memory()
	a := run(t, "a", vfs.NewMem(), e, nil)
	a.Want(true, 0)
	eventually.True(t, "a owns", a.owns)
	a.mustIncrement(0)
	a.mu.Lock()
	o := a.o
	a.mu.Unlock()
	before := a.Position()
	for _, size := range []int{sharedlog.MaxRecord, sharedlog.MaxRecord * 2} {
		tx := o.Store().Begin()
		tx.Set([]byte("long"), make([]byte, size))
		if err := o.Commit(tx); !errors.Is(err, store.ErrTooLong) {
			t.Errorf("%d bytes: %v", size, err)
		}
		tx.Release()
	}
	if p := a.Position(); p != before || !a.owns() {
		t.Errorf("the position is %d, and was %d; owner: %t", p, before, a.owns())
	}
	a.mustIncrement(1)
}

// lossy are leases that may be unreachable.
type lossy struct {
	sharedlog.Leases
	mu  sync.Mutex
	err error
}

func (l *lossy) set(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = err
}

func (l *lossy) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *lossy) Take(ctx context.Context, name string, value []byte) (sharedlog.Lease, error) {
	if err := l.failure(); err != nil {
		return nil, err
	}
	lease, err := l.Leases.Take(ctx, name, value)
	return &lossyLease{lease, l}, err
}

type lossyLease struct {
	sharedlog.Lease
	l *lossy
}

func (l *lossyLease) Renew(ctx context.Context, value []byte) error {
	if err := l.l.failure(); err != nil {
		return err
	}
	return l.Lease.Renew(ctx, value)
}

func (l *lossyLease) Release(ctx context.Context) error {
	if err := l.l.failure(); err != nil {
		return err
	}
	return l.Lease.Release(ctx)
}
