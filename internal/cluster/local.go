package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster/replica"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// maxCommit is the bytes of a commit: records that are longer only make the log
// slower.
const maxCommit = 512 << 10

// local is this node's part of a shard with messages: its replica, and while it
// owns the shard what serves it.
type local struct {
	node    *Node
	number  int
	name    string
	log     sharedlog.Log
	replica *replica.Replica
	vigil   *vigil
	cancel  context.CancelFunc
	done    chan struct{} // closed when the replica no longer runs

	serving atomic.Pointer[serving]
}

// serving is a shard that this node owns.
type serving struct {
	shard  *shard.Shard
	queues *feed
}

func (n *Node) allLocals() []*local {
	n.mu.Lock()
	defer n.mu.Unlock()
	out := make([]*local, 0, len(n.locals))
	for _, l := range n.locals {
		out = append(out, l)
	}
	return out
}

func (n *Node) local(name string) *local {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.locals[name]
}

// openLocal opens the replica of a shard with messages.
func (n *Node) openLocal(name string) error {
	number, err := numberOf(name)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(n.ctx, 2*n.ttl)
	defer cancel()
	log, err := n.engine.Log(ctx, name)
	if err != nil {
		return err
	}
	l := &local{node: n, number: number, name: name, log: log, done: make(chan struct{})}
	l.replica = replica.New(replica.Options{
		Name: name, Node: n.o.Name, Dir: n.shardDir(name), Storage: n.storage(),
		Log: log, Leases: n.leases, Logger: n.log, Host: l,
	})
	l.replica.Offer(n.desk)
	l.vigil = newVigil(n.o.Disk, l.replica.Stalled, errSilent)
	running, stop := context.WithCancel(n.ctx)
	l.cancel = stop
	began := n.tasks.start(func() {
		defer close(l.done)
		if err := l.replica.Run(running); err != nil {
			n.log.Error("replica has stopped", "shard", name, "error", err)
		}
	})
	if !began {
		stop()
		return context.Cause(n.ctx)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.locals[name] = l
	return nil
}

// closeLocal ends the replica of a shard, if it is open.
func (n *Node) closeLocal(name string) {
	n.mu.Lock()
	l := n.locals[name]
	delete(n.locals, name)
	n.mu.Unlock()
	if l != nil {
		l.cancel()
		<-l.done
	}
}

// Loaded implements replica.Host. Nothing of a shard of messages is kept in memory before this node serves it.
func (l *local) Loaded(*store.Store) error { return nil }

// Applied implements replica.Host.
func (l *local) Applied([]byte, sharedlog.Position) {}

// Prepare implements replica.Host. A node that does not know a queue would remove its messages, so it catches up with
// the control store first.
func (l *local) Prepare(ctx context.Context) error { return l.node.CatchUp(ctx) }

// Claimed implements replica.Host. Queues may have been made since Prepare, so the node catches up again; and it moves
// the log's lead to its own server while nothing is appended to the log.
func (l *local) Claimed(ctx context.Context) error {
	n := l.node
	if err := n.CatchUp(ctx); err != nil {
		return err
	}
	if !n.anyLeaving() {
		n.leadFrom(ctx, l.name, l.log, n.id.server())
	}
	return nil
}

// Fetch implements replica.Host.
func (l *local) Fetch(ctx context.Context, in *store.Incoming) error {
	return l.node.fetch(l.name)(ctx, in)
}

// Serve implements replica.Host.
func (l *local) Serve(o *replica.Ownership) (stop func(), err error) {
	n := l.node
	queues := n.subscribe() // first, so that nothing is missed
	sh, err := shard.Open(shard.Options{
		Store: o.Store(), Logger: n.log.With("shard", l.name), Shift: n.clocks.correction,
		Commit: o.Commit, Confirm: o.Confirm, Writable: l.vigil.condition, MaxCommit: maxCommit,
		Require: func(format int) error { return datadir.Require(n.o.Dir, format, n.o.Version) },
		Configs: func() []queue.Config { return n.configs(l.number) },
	})
	if err != nil {
		n.unsubscribe(queues)
		return nil, err
	}
	ctx, cancel := context.WithCancel(n.ctx)
	watching, rest := context.WithCancel(context.Background()) // as long as somebody may wait for a commit
	var running, vigil sync.WaitGroup
	vigil.Go(func() { l.vigil.keep(watching) })
	running.Go(func() {
		queues.run(ctx, func(was, is *catalog.Queue) error { return configure(ctx, sh, l.number, was, is) })
	})
	running.Go(func() {
		err := shard.Forward(ctx, sh, l.number, n.deliver)
		if err != nil && ctx.Err() == nil && !errors.Is(err, shard.ErrUnavailable) {
			n.log.Warn("messages for other shards are not forwarded", "shard", l.name, "error", err)
		}
	})
	s := &serving{shard: sh, queues: queues}
	l.serving.Store(s)
	running.Go(func() { n.lead(ctx, l.log) })
	n.announce(l.name, replica.Holder{Node: n.o.Name, Epoch: o.Epoch()})
	return func() {
		n.ended(o)
		l.serving.CompareAndSwap(s, nil)
		sh.Drain()
		cancel() // no more is forwarded
		n.unsubscribe(queues)
		running.Wait()
		sh.Close()
		rest()
		vigil.Wait()
		n.leadForHeir(l.name, l.log)
	}, nil
}

// configs returns the queues as a shard's engine has to know them.
func (n *Node) configs(number int) []queue.Config {
	var configs []queue.Config
	for _, q := range n.queues().All() {
		configs = append(configs, q.ConfigOn(number))
	}
	return configs
}

// configure tells a shard of a change of a queue, if it is one to the shard.
func configure(ctx context.Context, sh *shard.Shard, number int, was, is *catalog.Queue) error {
	switch {
	case is == nil:
		return sh.Drop(ctx, was.ID)
	case was != nil && reflect.DeepEqual(was.ConfigOn(number), is.ConfigOn(number)):
		return nil
	}
	return sh.Configure(ctx, is.ConfigOn(number))
}

// subscribe returns a feed of the changes of queues from now on.
func (n *Node) subscribe() *feed {
	f := newFeed()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.feeds[f] = true
	return f
}

func (n *Node) unsubscribe(f *feed) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.feeds, f)
}

// changed is told of each change of a queue.
func (n *Node) changed(was, is *catalog.Queue) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for f := range n.feeds {
		f.note(was, is)
	}
}

// feed brings the changes of queues to a shard, in their order.
type feed struct {
	mu      sync.Mutex
	waiting []change
	noted   uint64 // changes that have come
	told    uint64 // changes that the shard knows of
	more    chan struct{}
	known   chan struct{} // closed when the shard has learnt of something
	over    chan struct{} // closed when it learns no more
}

type change struct{ was, is *catalog.Queue }

func newFeed() *feed {
	return &feed{more: make(chan struct{}, 1), known: make(chan struct{}), over: make(chan struct{})}
}

func (f *feed) note(was, is *catalog.Queue) {
	f.mu.Lock()
	f.waiting = append(f.waiting, change{was, is})
	f.noted++
	f.mu.Unlock()
	select {
	case f.more <- struct{}{}:
	default:
	}
}

const feedAgain = 100 * time.Millisecond

// run tells the shard until ctx ends. To be called once.
func (f *feed) run(ctx context.Context, tell func(was, is *catalog.Queue) error) {
	defer close(f.over)
	for {
		select {
		case <-f.more:
		case <-ctx.Done():
			return
		}
		for {
			f.mu.Lock()
			if len(f.waiting) == 0 {
				f.mu.Unlock()
				break
			}
			c := f.waiting[0]
			f.mu.Unlock()
			if err := tell(c.was, c.is); err != nil {
				select { // the shard is about to be served by somebody else, or will be back
				case <-time.After(feedAgain):
					continue
				case <-ctx.Done():
					return
				}
			}
			f.mu.Lock()
			f.waiting = f.waiting[1:]
			f.told++
			close(f.known)
			f.known = make(chan struct{})
			f.mu.Unlock()
		}
	}
}

var errFeedOver = errors.New("it is not served here any more")

// wait waits until the shard knows all that has come before the call.
func (f *feed) wait(ctx context.Context) error {
	f.mu.Lock()
	want := f.noted
	for f.told < want {
		known := f.known
		f.mu.Unlock()
		select {
		case <-known:
		case <-f.over:
			return errFeedOver
		case <-ctx.Done():
			return ctx.Err()
		}
		f.mu.Lock()
	}
	f.mu.Unlock()
	return nil
}

// number returns which shard has this name.
func numberOf(name string) (int, error) {
	var number int
	if _, err := fmt.Sscanf(name, "%04d", &number); err != nil {
		return 0, fmt.Errorf("%q is not the name of a shard: %w", name, err)
	}
	return number, nil
}
