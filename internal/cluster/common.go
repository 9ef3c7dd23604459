package cluster

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/store"
)

// common holds what all parts of a node share. Except for the atomic fields, it is set before they run.
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
	format   directoryFormat
	engine   Engine
	leases   *leaseList
	messages messenger.Messenger
}

// fail stops the node, because it cannot continue.
func (c *common) fail(err error) {
	if err != nil && c.ctx.Err() == nil {
		c.failure.set(err)
	}
}

// mayNotOwn reports whether this node must not own any shard.
func (c *common) mayNotOwn() bool { return c.leaving.Load() || c.o.Disk.Writable().Err() != nil }

// storage holds the resources that the stores of the replicas share.
func (c *common) storage() store.Options {
	return store.Options{Disk: c.o.Disk, Cache: c.o.Cache, Logger: c.log}
}

// failure is the first reason why a node cannot continue.
type failure struct {
	happened chan struct{} // closed at the first failure

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

// alarm is a signal with which one part wakes the loop of another.
type alarm chan struct{}

func newAlarm() alarm { return make(alarm, 1) }

func (a alarm) ring() {
	select {
	case a <- struct{}{}:
	default:
	}
}
