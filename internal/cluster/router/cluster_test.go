package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/messenger"
	"github.com/sluicemq/sluice/internal/cluster/remote"
	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
	"github.com/sluicemq/sluice/internal/store"
)

// The queues of the tests. Each is on the shards that its cluster assigns.
const (
	single queue.ID = 1  // standard, on shard 2
	wide   queue.ID = 2  // standard, on all shards
	groups queue.ID = 3  // FIFO, on all shards
	narrow queue.ID = 4  // standard, sends go to its first shard only
	letter queue.ID = 5  // FIFO, the dead-letter queue of groups, on all shards in another order
	topic  queue.ID = 6  // of a FIFO topic, on shard 1
	absent queue.ID = 99 // was deleted
)

// patience is longer than anything in these tests takes.
const testTimeout = 30 * time.Second

var errNoOwner = errors.New("the shard has no owner")

// cluster is some shards on some nodes of one process.
type cluster struct {
	t       testing.TB
	network *messenger.Memory
	nodes   []string
	places  map[queue.ID]router.Placement
	config  func(*queue.Config)
	began   time.Time
	passed  time.Duration // in addition to the time that has passed

	mu     sync.Mutex
	shards map[int]*owned
}

// owned is a shard, its store and where it is.
type owned struct {
	store   *store.Store
	shard   *shard.Shard
	node    string // empty without an owner
	changed chan struct{}
	// before stands in front of the shard, unless it is nil.
	before func(remote.Shard) remote.Shard
}

func newCluster(t testing.TB, shards int, nodes ...string) *cluster {
	t.Helper()
	all := make([]int, shards)
	for i := range all {
		all[i] = i + 1
	}
	reversed := slices.Clone(all)
	slices.Reverse(reversed)
	c := &cluster{
		t: t, began: time.Now(), network: messenger.NewMemory(), nodes: nodes, shards: make(map[int]*owned),
		config: func(*queue.Config) {},
		places: map[queue.ID]router.Placement{
			single: {Sends: []int{2}, Shards: []int{2}},
			wide:   {Sends: all, Shards: all},
			groups: {Sends: all, Shards: all, FIFO: true},
			narrow: {Sends: all[:1], Shards: all},
			letter: {Sends: reversed, Shards: reversed, FIFO: true},
			topic:  {Sends: all[:1], Shards: all[:1], FIFO: true},
		},
	}
	cache := store.NewCache(1 << 20)
	t.Cleanup(cache.Close)
	for _, n := range all {
		st, err := store.OpenMemory(store.Options{Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		c.shards[n] = &owned{store: st, changed: make(chan struct{})}
		c.give(n, nodes[n%len(nodes)])
	}
	for _, node := range nodes {
		remote.Serve(c.network.Node(node), remote.ServerOptions{
			Lookup: func(n int) (remote.Shard, error) { return c.at(node, n) },
		})
	}
	t.Cleanup(func() {
		for _, o := range c.shards {
			if o.shard != nil {
				o.shard.Close()
			}
			if err := o.store.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	return c
}

// at returns a shard if that node owns it.
func (c *cluster) at(node string, n int) (remote.Shard, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o := c.shards[n]
	switch {
	case o == nil || o.node != node:
		return nil, errNoOwner
	case o.before != nil:
		return o.before(o.shard), nil
	}
	return o.shard, nil
}

// router returns the router of a node, which does not wait long for a shard without owner.
func (c *cluster) router(node string) *router.Router {
	return c.routerWaiting(node, 500*time.Millisecond)
}

// routerWaiting returns the router of a node, which waits this long for a shard without owner.
func (c *cluster) routerWaiting(node string, timeout time.Duration) *router.Router {
	r := router.New(router.Options{
		Messenger: c.network.Node(node), CallTimeout: testTimeout,
		Queue: func(id queue.ID) (router.Placement, bool) { p, ok := c.places[id]; return p, ok },
		Owner: func(n int) (router.Shard, string, error) {
			if s, err := c.at(node, n); err == nil {
				return s, node, nil
			}
			if owner := c.owner(n); owner != "" {
				return nil, owner, nil
			}
			return nil, "", errNoOwner
		},
		Changed: func(n int) <-chan struct{} {
			c.mu.Lock()
			defer c.mu.Unlock()
			return c.shards[n].changed
		},
		Shards:  func() int { return len(c.shards) },
		Local:   func(n int) bool { return c.owner(n) == node },
		Timeout: timeout,
	})
	c.t.Cleanup(r.Close)
	return r
}

func (c *cluster) owner(n int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.shards[n].node
}

// take closes a shard: then it has no owner.
func (c *cluster) take(n int) {
	c.mu.Lock()
	o := c.shards[n]
	s := o.shard
	o.node, o.shard = "", nil
	c.mu.Unlock()
	if s != nil {
		s.Close()
	}
}

// give opens a shard without owner on a node.
func (c *cluster) give(n int, node string) {
	o := c.shards[n]
	passed := c.passed
	s, err := shard.Open(shard.Options{
		Number: n,
		Store:  o.store, Configs: func() []queue.Config { return c.configs(n) },
		Deleted: func(id queue.ID) bool { return id == absent }, Keep: queue.DefaultKeep,
		Now: func() time.Time { return c.time(passed) },
	})
	if err != nil {
		c.t.Error(err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	o.shard, o.node = s, node
	close(o.changed)
	o.changed = make(chan struct{})
}

// time returns the time of the shards: the cluster began at the start of a minute.
func (c *cluster) time(passed time.Duration) time.Time {
	now := time.Now()
	return now.Add(c.began.Truncate(time.Minute).Sub(c.began) + passed)
}

func (c *cluster) now() queue.Instant { return queue.At(c.time(c.passed)) }

// pass lets time pass for the shards while none has an owner.
func (c *cluster) pass(d time.Duration) {
	for n := range c.shards {
		c.take(n)
	}
	c.passed += d
	for n := range c.shards {
		c.give(n, c.nodes[n%len(c.nodes)])
	}
}

// stand puts something in front of a shard, or removes it.
func (c *cluster) stand(n int, before func(remote.Shard) remote.Shard) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.shards[n].before = before
}

// configs returns the configs of the queues for the engine of a shard.
func (c *cluster) configs(n int) []queue.Config {
	var out []queue.Config
	for id, p := range c.places {
		cfg := queue.Config{
			ID: id, ARN: arn(id), FIFO: p.FIFO, DedupPerGroup: p.FIFO,
			Visibility: time.Hour, Retention: 24 * time.Hour,
		}
		at := slices.Index(p.Shards, n)
		if cfg.Elsewhere = at < 0; p.FIFO && !cfg.Elsewhere {
			cfg.Part, cfg.Parts = at, len(p.Shards)
		}
		c.config(&cfg)
		out = append(out, cfg)
	}
	return out
}

func arn(id queue.ID) string { return fmt.Sprintf("arn:aws:sqs:us-east-1:000000000000:q%d", id) }

// where returns the number of visible messages of a queue on each shard.
func (c *cluster) where(id queue.ID) map[int]int {
	c.t.Helper()
	out := make(map[int]int)
	for n, o := range c.shards {
		counts, err := o.shard.Counts(context.Background(), id)
		if err != nil {
			c.t.Fatal(err)
		}
		if counts.Visible > 0 {
			out[n] = int(counts.Visible)
		}
	}
	return out
}

// forward forwards messages between shards until the test ends. The shards stay where they are.
func (c *cluster) forward(r *router.Router) {
	ctx, cancel := context.WithCancel(context.Background())
	var forwarding sync.WaitGroup
	c.t.Cleanup(func() { cancel(); forwarding.Wait() })
	for _, o := range c.shards {
		if o.shard != nil {
			forwarding.Go(func() { _ = shard.Forward(ctx, o.shard, r.Deliver) })
		}
	}
}

// settle waits until nothing of a queue is in flight.
func (c *cluster) settle(r *router.Router, id queue.ID) queue.Counts {
	c.t.Helper()
	var counts queue.Counts
	eventually.Succeeds(c.t, func() (err error) {
		counts, err = r.Counts(context.Background(), id)
		if err == nil && counts.InFlight > 0 {
			err = fmt.Errorf("still in flight: %+v", counts)
		}
		return err
	})
	return counts
}

func outgoing(bodies ...string) []queue.Outgoing {
	var out []queue.Outgoing
	for _, b := range bodies {
		out = append(out, queue.Outgoing{Body: b})
	}
	return out
}

func send(t testing.TB, r *router.Router, id queue.ID, bodies ...string) {
	t.Helper()
	if _, err := r.Send(context.Background(), id, outgoing(bodies...)); err != nil {
		t.Fatal(err)
	}
}

func bodies(messages []shard.Message) []string {
	out := []string{}
	for _, m := range messages {
		out = append(out, m.Body)
	}
	slices.Sort(out)
	return out
}

func receipt(m *shard.Message) queue.Receipt {
	return queue.Receipt{Position: m.Position, Number: m.Receipt}
}

// drain receives and deletes until the queue is empty, and returns the bodies.
func drain(t testing.TB, r *router.Router, id queue.ID) []string {
	t.Helper()
	return bodies(drainMessages(t, r, id))
}

// drainMessages is drain for whole messages. On a busy machine a receive may come away
// with nothing: what its shard had given too late is returned a moment after.
func drainMessages(t testing.TB, r *router.Router, id queue.ID) (out []shard.Message) {
	t.Helper()
	for end := time.Now().Add(testTimeout); ; {
		got, err := r.Receive(context.Background(), id, queue.Receive{Max: 10}, 20*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			left, err := r.Counts(context.Background(), id)
			if err == nil && left == (queue.Counts{}) {
				return out
			}
			if time.Now().After(end) {
				t.Fatalf("it cannot be emptied: %+v, %v", left, err)
			}
			continue
		}
		var receipts []queue.Receipt
		for i := range got {
			receipts = append(receipts, receipt(&got[i]))
		}
		out = append(out, got...)
		results, err := r.Delete(context.Background(), id, receipts)
		if err := errors.Join(append(results, err)...); err != nil {
			t.Fatal(err)
		}
	}
}

func numbered(prefix string, n int) []string {
	out := []string{}
	for i := range n {
		out = append(out, fmt.Sprintf("%s%03d", prefix, i))
	}
	return out
}

func equal[T any](t testing.TB, what string, got, want T) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
