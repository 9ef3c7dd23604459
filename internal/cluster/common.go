package cluster

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/store"
)

// common is what all parts of a node have. But for what is atomic it is set before they
// run.
type common struct {
	o        Options
	times    timing
	log      *slog.Logger
	id       incarnation
	ctx      context.Context // ends when the node closes
	tasks    tasks
	failure  failure
	leaving  atomic.Bool // the node is about to stop
	records  *records
	engine   Engine
	leases   *leaseList
	messages messenger.Messenger
}

// fail ends the node: it cannot go on.
func (c *common) fail(err error) {
	if err != nil && c.ctx.Err() == nil {
		c.failure.set(err)
	}
}

// mayNotOwn reports whether this node is not to own anything.
func (c *common) mayNotOwn() bool { return c.leaving.Load() || c.o.Disk.Writable().Err() != nil }

// storage is what the stores of the replicas may use.
func (c *common) storage() store.Options {
	return store.Options{Disk: c.o.Disk, Cache: c.o.Cache, Logger: c.log}
}

// failure is why a node cannot go on: the first reason there was.
type failure struct {
	happened chan struct{} // closed then

	mu  sync.Mutex
	err error
}

func (f *failure) set(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
		close(f.happened)
	}
}

func (f *failure) get() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// alarm is how one part tells the loop of another that there is something to look at.
type alarm chan struct{}

func newAlarm() alarm { return make(alarm, 1) }

func (a alarm) ring() {
	select {
	case a <- struct{}{}:
	default:
	}
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
