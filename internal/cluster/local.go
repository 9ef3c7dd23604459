package cluster

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// maxCommit is the maximum size of a commit, in bytes. Longer records only slow the log down.
const maxCommit = 512 << 10

// local is this node's part of a shard with messages: its replica and, while the node owns the shard, the objects that
// serve it.
type local struct {
	host     *host
	number   int
	name     string
	log      sharedlog.Log
	replica  *replica.Replica
	watchdog *watchdog
	cancel   context.CancelFunc
	done     chan struct{} // closed when the replica has stopped

	serving atomic.Pointer[serving]
}

// serving is a shard that this node owns.
type serving struct {
	shard  *shard.Shard
	queues *feed
}

// openLocal opens the replica of a shard with messages.
func (h *host) openLocal(name string) error {
	number, err := numberOf(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(h.ctx, openTimeout)
	defer cancel()
	log, err := h.engine.Log(ctx, name)
	if err != nil {
		return err
	}
	l := &local{host: h, number: number, name: name, log: log, done: make(chan struct{})}
	l.replica = replica.New(replica.Options{
		Name: name, Node: h.o.Name, Dir: shardDir(h.o.Dir, name), Storage: h.storage(),
		Log: log, Leases: h.leases, Logger: h.log, Host: l, Flush: h.o.Logs.Flush,
	})
	l.replica.Offer(h.mux)
	l.watchdog = newWatchdog(h.o.Disk, l.replica.Stalled, h.times.stall, errLogSilent)
	running, stop := context.WithCancel(h.ctx)
	l.cancel = stop
	began := h.tasks.start(func() {
		defer close(l.done)
		if err := l.replica.Run(running); err != nil {
			h.log.Error("replica has stopped", "shard", name, "error", err)
		}
	})
	if !began {
		stop()
		return context.Cause(h.ctx)
	}
	h.locals.add(l)
	return nil
}

// closeLocal stops the replica of a shard, if it is open.
func (h *host) closeLocal(name string) {
	if l := h.locals.take(name); l != nil {
		l.cancel()
		<-l.done
	}
}

// Loaded implements replica.Host. A shard with messages keeps nothing in memory before this node serves it.
func (l *local) Loaded(*store.Store) error { return nil }

// Applied implements replica.Host.
func (l *local) Applied([]byte, sharedlog.Position) error { return nil }

// Prepare implements replica.Host. A node that does not know a queue cannot serve it, so the node first catches up with
// the control store.
func (l *local) Prepare(ctx context.Context) error { return l.host.barrier.catchUp(ctx) }

// Claimed implements replica.Host. New queues may exist since Prepare, so the node catches up again. It also moves the
// log's lead to its own server while nothing is being appended.
func (l *local) Claimed(ctx context.Context) error {
	h := l.host
	if err := h.barrier.catchUp(ctx); err != nil {
		return err
	}
	if !h.members.anyLeaving() {
		h.leads.move(ctx, l.name, l.log, h.id.server())
	}
	return nil
}

// Fetch implements replica.Host.
func (l *local) Fetch(ctx context.Context, in *store.Incoming) error {
	return l.host.members.checkpoint(l.name)(ctx, in)
}

// Serve implements replica.Host.
func (l *local) Serve(o *replica.Ownership) (stop func(), err error) {
	h := l.host
	queues := h.queues.subscribe() // first, so that no change is missed
	sh, err := shard.Open(shard.Options{
		Store: o.Store(), Number: l.number, Logger: h.log.With("shard", l.name), Shift: h.members.clocks.correction,
		Commit: o.Commit, Confirm: o.Confirm, Writable: l.watchdog.condition, MaxCommit: maxCommit,
		Keep: h.o.Keep, Totals: h.o.Totals, Watch: h.o.Watch, Cipher: h.o.Cipher(), Reads: h.members.readable,
		Low:     func() bool { return h.o.NoUndo || h.members.low() },
		Require: h.members.requireFormat,
		Configs: func() []queue.Config { return h.queues.catalog().Configs(l.number) },
		Deleted: func(id queue.ID) bool { return h.queues.catalog().Deleted(id) },
	})
	if err != nil {
		h.queues.unsubscribe(queues)
		return nil, err
	}
	ctx, cancel := context.WithCancel(h.ctx)
	watching, rest := context.WithCancel(context.Background()) // ends when no request can wait for a commit
	var running, watchdog sync.WaitGroup
	watchdog.Go(func() { l.watchdog.run(watching) })
	running.Go(func() {
		queues.run(ctx, func(was, is *catalog.Queue) error { return catalog.Tell(ctx, sh, l.number, was, is) })
	})
	running.Go(func() {
		err := shard.Forward(ctx, sh, h.routing.deliver)
		if err != nil && ctx.Err() == nil && !errors.Is(err, shard.ErrUnavailable) {
			h.log.Warn("messages for other shards are not forwarded", "shard", l.name, "error", err)
		}
	})
	running.Go(func() { h.toEndpoints(ctx, sh) })
	s := &serving{shard: sh, queues: queues}
	l.serving.Store(s)
	running.Go(func() { h.leads.keep(ctx, l.log) })
	h.members.announce(l.name, o.Epoch())
	return func() {
		h.handOvers.ended(o)
		l.serving.CompareAndSwap(s, nil)
		sh.Drain()
		cancel() // forwarding has ended
		h.queues.unsubscribe(queues)
		running.Wait()
		sh.Close()
		rest()
		watchdog.Wait()
		h.leads.toSuccessor(l.name, l.log)
	}, nil
}
