package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/sharedlog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// The tests of this package run whole nodes on an engine in memory, and in the time
// of a bubble: what takes minutes takes no longer than the processor needs for it.
//
// The race detector of Go 1.26 crashes now and then when many timers have gone off in
// bubbles. So with it the nodes run in real time, with the intervals of production; the
// tests run beside each other, and shorten what they can: see pause and slack.

const (
	// enough is longer than anything here takes.
	enough = 3 * time.Minute
	// moment is the duration of an attempt to reach an engine that is cut off.
	moment = 2 * time.Second
)

// either returns the first in a bubble, and the second in real time.
func either[T any](bubble, realTime T) T {
	if cluster.Raced {
		return realTime
	}
	return bubble
}

// slack is how many times longer an answer may take than the intervals of a cluster imply: in a bubble no time passes
// while the machine is busy.
var slack = either[time.Duration](1, 5)

// failover is the failover timeout of the nodes in most worlds. With the race detector, which slows nodes down, it is
// longer by the same factor.
var failover = either[time.Duration](1, 3) * cluster.DefaultFailover

func TestMain(m *testing.M) {
	flag.Parse()
	if cluster.Raced { // the nodes wait most of the time
		if err := flag.Set("test.parallel", "16"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// world is a set of machines, and the connections between them.
type world struct {
	t       *testing.T
	engine  *sharedlog.Memory
	network *messenger.Memory
	cache   *store.Cache
	// failover is the failover timeout of all nodes.
	failover time.Duration

	options func(*cluster.Options)                    // changes those of every node
	opening func(name string, n *cluster.Node) error  // if set: called before a node's catalog is opened
	trimmed func(shard string, to sharedlog.Position) // if set: called for each trim
	taking  func(lease string)                        // if set: delays nodes that take a lease
	mute    func(node, shard string) bool             // if set: whether appends of a node are lost
	answers func(kind string)                         // if set: delays the answers to requests of a kind
	shelves bool                                      // deleted queues can be restored
	life    context.Context
	end     context.CancelFunc

	mu         sync.Mutex
	machines   map[string]*machine
	started    int             // processes
	members    map[string]bool // servers that the engine knows
	forgotten  []string
	leaderless string // the shard whose log has no leader
	ending     sync.WaitGroup
	healed     chan struct{} // closed at the next change of the cuts
	late       time.Duration // by how much the machine was late at most since the last call of busy
}

// machine is a place where a node runs, or has run.
type machine struct {
	name      string
	dir       string
	disk      *vfs.MemFS
	cut       bool // cut off from the engine and all other machines
	process   *process
	duplicate *process         // of the same name, on another machine that was first
	durable   map[string]int64 // how much of each shard was durable when the node was killed
}

// process is a running node.
type process struct {
	*port
	node    *cluster.Node
	catalog *catalog.Catalog
	disk    *store.Disk
	cancel  context.CancelFunc
	ready   chan struct{} // closed when it serves, or when err says why it does not
	err     error

	delivering atomic.Int64 // the number of shards whose topics it delivers
}

// ttl returns the length of the leases.
func ttl(failover time.Duration) time.Duration { return 3 * failover / 4 }

// inWorld runs a test in its own world.
func inWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	inWorldOf(t, failover, f)
}

// inWorldOf is inWorld for a failover timeout.
func inWorldOf(t *testing.T, failover time.Duration, f func(w *world)) {
	t.Helper()
	dirs := make(map[string]string)
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		dirs[name] = t.TempDir()
	}
	run := func(t *testing.T) {
		w := &world{
			t: t, engine: sharedlog.NewMemory(ttl(failover), nil), network: messenger.NewMemory(),
			cache:    store.NewCache(8 << 20),
			failover: failover, machines: make(map[string]*machine), members: make(map[string]bool),
			options: func(*cluster.Options) {}, healed: make(chan struct{}),
		}
		w.life, w.end = context.WithCancel(context.Background())
		for name, dir := range dirs {
			w.machines[name] = &machine{name: name, dir: dir, disk: vfs.NewCrashableMem()}
		}
		defer w.cache.Close()
		defer w.close()
		w.ending.Go(w.clock)
		f(w)
	}
	if cluster.Raced {
		t.Parallel()
		run(t)
		return
	}
	synctest.Test(t, run)
}

// pause lets the cluster run. In real time it lasts a sixth as long, and at most half a minute. It makes the nodes
// flush their stores.
func (w *world) pause(d time.Duration) {
	if cluster.Raced {
		d = min(d/6, 30*time.Second)
		for name := range w.machines {
			if p := w.serving(name); p != nil {
				_ = p.node.Reclaim() // it may be about to stop
			}
		}
	}
	time.Sleep(d)
}

// clock measures by how much the machine is late.
func (w *world) clock() {
	for w.life.Err() == nil {
		began := time.Now()
		time.Sleep(100 * time.Millisecond)
		w.mu.Lock()
		w.late = max(w.late, time.Since(began)-100*time.Millisecond)
		w.mu.Unlock()
	}
}

// busy reports whether the machine has been so busy since the last call, or the beginning, that nodes may have mistaken
// each other for dead. In a bubble it is never busy.
func (w *world) busy() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	late := w.late
	w.late = 0
	return late > 500*time.Millisecond
}

// close stops all processes.
func (w *world) close() {
	w.end()
	for _, name := range slices.Sorted(maps.Keys(w.machines)) {
		w.cut(name, false)
	}
	for _, name := range slices.Sorted(maps.Keys(w.machines)) {
		if w.machines[name].process != nil {
			w.kill(name)
		}
	}
	w.ending.Wait()
}

// start starts a node on each of these machines, with a list of founders. It does not wait.
func (w *world) start(names ...string) {
	w.t.Helper()
	for _, name := range names {
		w.startOne(name, "a", "b", "c")
	}
}

func (w *world) startOne(name string, peers ...string) *process {
	w.t.Helper()
	w.mu.Lock()
	m := w.machines[name]
	w.started++
	p := &process{
		port: &port{world: w, machine: m, name: fmt.Sprintf("%s.%d", name, w.started)},
		disk: store.NewDisk(m.disk, nil), ready: make(chan struct{}),
	}
	m.process = p
	w.mu.Unlock()
	log := slog.New(slog.NewTextHandler(w.t.Output(),
		&slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.String(a.Key, a.Value.Time().Format("04:05.000"))
			}
			return a
		}})).With("node", name)
	o := cluster.Options{
		Name: name, Cluster: "test", Dir: m.dir, Disk: p.disk, Cache: w.cache, Logger: log, Version: "1",
		Failover: w.failover,
		Engine: func(_ context.Context, server string) (cluster.Engine, error) {
			p.server = server
			w.mu.Lock()
			defer w.mu.Unlock()
			w.members[server] = true
			return p.port, nil
		},
		Found:    func(c *control.Control) error { return c.Change(context.Background(), catalog.Initialise) },
		Forward:  p.execute,
		Endpoint: func() string { return "http://" + name },
	}
	for _, peer := range peers {
		o.Peers = append(o.Peers, cluster.Peer{Name: peer, Address: peer + ":6222"})
	}
	w.options(&o)
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.ready)
		p.err = p.run(ctx, o)
	}()
	return p
}

// run does the work of a server.
func (p *process) run(ctx context.Context, o cluster.Options) (err error) {
	node, err := cluster.Join(ctx, o)
	if err != nil {
		return err
	}
	p.node = node
	if err := node.Founded(ctx); err != nil {
		return errors.Join(err, node.Close(context.Background()))
	}
	if open := p.world.opening; open != nil {
		if err := open(o.Name, node); err != nil {
			return errors.Join(err, node.Close(context.Background()))
		}
	}
	if p.catalog, err = catalog.Open(catalog.Options{
		Control: node.Control(), Place: node.Place, Keeps: func() bool { return p.world.shelves },
	}); err != nil {
		return errors.Join(err, node.Close(context.Background()))
	}
	node.Serve(p.catalog, func(ctx context.Context, _ *shard.Shard) {
		p.delivering.Add(1)
		defer p.delivering.Add(-1)
		<-ctx.Done()
	})
	return nil
}

// failure returns why a process does not serve, or cannot continue.
func (p *process) failure() error {
	select {
	case <-p.ready:
		if p.err == nil {
			return p.node.Err()
		}
		return p.err
	default:
		return nil
	}
}

// at returns the process on a machine, once it serves.
func (w *world) at(name string) *process {
	w.t.Helper()
	p := w.machines[name].process
	select {
	case <-p.ready:
		if p.err != nil {
			w.t.Fatalf("node %s: %v", name, p.err)
		}
	case <-time.After(enough):
		w.t.Fatalf("node %s does not serve", name)
	}
	return p
}

// stop stops a node gracefully.
func (w *world) stop(name string) {
	w.t.Helper()
	p := w.at(name)
	p.node.Router().Drain()
	if err := p.node.Close(context.Background()); err != nil {
		w.t.Errorf("node %s: %v", name, err)
	}
	p.cancel()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines[name].process = nil
}

// controlOwner returns the node of a cluster of a, b and c that owns the control store, once there is one.
func (w *world) controlOwner() (owner string) {
	w.t.Helper()
	w.eventually("the control store has an owner", func() bool {
		for _, name := range []string{"a", "b", "c"} {
			if p := w.serving(name); p != nil && !p.node.Control().Elsewhere() {
				owner = name
				return true
			}
		}
		return false
	})
	return owner
}

// serving returns the process on a machine if it serves, or nil.
func (w *world) serving(name string) *process {
	w.mu.Lock()
	p := w.machines[name].process
	w.mu.Unlock()
	if p == nil {
		return nil
	}
	select {
	case <-p.ready:
		if p.err == nil {
			return p
		}
	default:
	}
	return nil
}

// kill ends a node at an arbitrary moment. Data that its disk had not synced is lost.
func (w *world) kill(name string) {
	w.t.Helper()
	m := w.machines[name]
	p := m.process
	if w.serving(name) != nil {
		m.durable = durableOf(p)
	}
	w.mu.Lock()
	p.dead = true
	w.tell()
	m.disk = m.disk.CrashClone(vfs.CrashCloneCfg{})
	m.process = nil
	w.mu.Unlock()
	w.network.Cut(p.port.name, true)
	p.cancel()
	<-p.ready
	if p.err != nil {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	w.ending.Go(func() { _ = p.node.Close(ctx) }) // which reaches no other node
}

// wipe takes the disk out of a machine that is off.
func (w *world) wipe(name string) {
	m := w.machines[name]
	m.dir, m.disk, m.durable = w.t.TempDir(), vfs.NewCrashableMem(), nil
}

// cut cuts a machine off from everything, or connects it again.
func (w *world) cut(name string, off bool) {
	w.mu.Lock()
	m := w.machines[name]
	m.cut = off
	w.tell()
	p := m.process
	w.mu.Unlock()
	if p != nil {
		w.network.Cut(p.port.name, off)
	}
}

// tell wakes the waiters for the engine. The caller holds w.mu.
func (w *world) tell() {
	close(w.healed)
	w.healed = make(chan struct{})
}

// does runs an operation that must succeed: at once in a bubble; in real time as soon as the nodes can do it, because
// on a busy machine they may have mistaken each other for dead.
func (w *world) does(f func() error) {
	w.t.Helper()
	if cluster.Raced {
		eventually.Succeeds(w.t, f)
		return
	}
	w.must(f())
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// eventually waits until a condition holds.
func (w *world) eventually(what string, is func() bool) {
	w.t.Helper()
	happened := false
	defer func() {
		if !happened {
			w.report()
		}
	}()
	eventually.True(w.t, what, is)
	happened = true
}

// report describes the cluster as the nodes see it.
func (w *world) report() {
	for _, name := range slices.Sorted(maps.Keys(w.machines)) {
		if p := w.serving(name); p != nil {
			w.t.Logf("according to %s: %s", name, brief(p.node.Status()))
		}
	}
}

// port is a process's connection to the engine.
type port struct {
	world   *world
	machine *machine
	name    string // in the network
	server  string // its name in the engine
	dead    bool
}

var errSilence = errors.New("the engine does not answer")

// reach returns nil when the engine can be reached, or an error after some time.
func (p *port) reach(ctx context.Context, patience time.Duration) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSilence)
	defer cancel()
	for {
		p.world.mu.Lock()
		off, healed := p.machine.cut || p.dead, p.world.healed
		p.world.mu.Unlock()
		if !off {
			return nil
		}
		select {
		case <-healed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (p *port) Log(ctx context.Context, name string) (sharedlog.Log, error) {
	return &portLog{p, name, p.world.engine.Log(name)}, p.reach(ctx, enough)
}

func (p *port) Leases(ctx context.Context, _ time.Duration) (sharedlog.Leases, error) {
	return &portLeases{p}, p.reach(ctx, enough)
}

func (p *port) Messenger() messenger.Messenger { return (*portMessenger)(p) }

func (p *port) Lead(context.Context, sharedlog.Log, string) error { return nil }

func (p *port) Elect(func(string) bool, func(string) time.Duration, time.Duration) int { return 0 }

func (p *port) Yield(context.Context) {}

func (p *port) Copies(_ context.Context, log sharedlog.Log) (complete, wanted int, err error) {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if l, ok := log.(*portLog); ok && p.world.leaderless == l.shard {
		return 0, 0, cluster.ErrLeaderless
	}
	return 3, 3, nil
}

func (p *port) LeaseCopies(context.Context) (complete, wanted int, err error) { return 3, 3, nil }

func (p *port) Broken() error { return nil }

func (p *port) Reached() map[string]bool { return nil }

func (p *port) Forget(_ context.Context, server string) error {
	p.world.mu.Lock()
	defer p.world.mu.Unlock()
	if p.world.members[server] {
		delete(p.world.members, server)
		p.world.forgotten = append(p.world.forgotten, server)
	}
	return nil
}

func (p *port) Close() error {
	p.world.network.Cut(p.name, true)
	return nil
}

// portLog is a log that can be unreachable.
type portLog struct {
	*port
	shard string
	log   sharedlog.Log
}

func (l *portLog) Append(ctx context.Context, after sharedlog.Position, data []byte) error {
	if err := l.reach(ctx, moment); err != nil {
		return err
	}
	if l.world.mute != nil && l.world.mute(l.machine.name, l.shard) {
		<-ctx.Done()
		return ctx.Err()
	}
	return l.log.Append(ctx, after, data)
}

func (l *portLog) Read(ctx context.Context, from sharedlog.Position) ([]sharedlog.Record, sharedlog.Extent, error) {
	if err := l.reach(ctx, moment); err != nil {
		return nil, sharedlog.Extent{}, err
	}
	return l.log.Read(ctx, from)
}

func (l *portLog) Follow(ctx context.Context, from sharedlog.Position, f func(sharedlog.Record) error) error {
	return l.log.Follow(ctx, from, func(r sharedlog.Record) error {
		if err := l.reach(ctx, 100*enough); err != nil {
			return err
		}
		return f(r)
	})
}

func (l *portLog) Trim(ctx context.Context, to sharedlog.Position) error {
	if err := l.reach(ctx, moment); err != nil {
		return err
	}
	if l.world.trimmed != nil {
		l.world.trimmed(l.shard, to)
	}
	return l.log.Trim(ctx, to)
}

// portLeases are leases that can be unreachable.
type portLeases struct{ *port }

func (l *portLeases) TTL() time.Duration { return ttl(l.world.failover) }

func (l *portLeases) Take(ctx context.Context, name string, value []byte) (sharedlog.Lease, error) {
	if err := l.reach(ctx, moment); err != nil {
		return nil, err
	}
	if l.world.taking != nil {
		l.world.taking(name)
	}
	lease, err := l.world.engine.Take(ctx, name, value)
	return &portLease{l.port, lease}, err
}

func (l *portLeases) List(ctx context.Context) (map[string][]byte, error) {
	if err := l.reach(ctx, moment); err != nil {
		return nil, err
	}
	return l.world.engine.List(ctx)
}

type portLease struct {
	*port
	lease sharedlog.Lease
}

func (l *portLease) Renew(ctx context.Context, value []byte) error {
	if err := l.reach(ctx, moment); err != nil {
		return err
	}
	return l.lease.Renew(ctx, value)
}

func (l *portLease) Release(ctx context.Context) error {
	if err := l.reach(ctx, moment); err != nil {
		return err
	}
	return l.lease.Release(ctx)
}

// portMessenger finds the current process of a node.
type portMessenger port

func (m *portMessenger) Request(ctx context.Context, node, kind string, payload []byte) ([]byte, error) {
	m.world.mu.Lock()
	to := ""
	if machine := m.world.machines[node]; machine != nil && machine.process != nil {
		if to = machine.process.port.name; machine.duplicate != nil {
			to = machine.duplicate.port.name
		}
	}
	m.world.mu.Unlock()
	if to == "" {
		return nil, fmt.Errorf("node %s is down: %w", node, messenger.ErrNotTaken)
	}
	answer, err := m.world.network.Node(m.name).Request(ctx, to, kind, payload)
	m.world.mu.Lock()
	hold := m.world.answers
	m.world.mu.Unlock()
	if hold != nil {
		hold(kind)
	}
	return answer, err
}

func (m *portMessenger) Handle(kind string, f messenger.Handler) {
	m.world.network.Node(m.name).Handle(kind, f)
}

// execute answers a change of the queues that was forwarded to the owner of the control shard.
func (p *process) execute(_ context.Context, request []byte) ([]byte, error) {
	var r order
	if err := json.Unmarshal(request, &r); err != nil {
		return nil, err
	}
	return nil, p.change(&r)
}
