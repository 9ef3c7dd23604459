package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// traffic is producers and consumers of one queue. They use one node after the other, and check their messages.
type traffic struct {
	w     *world
	queue string
	nodes []string
	ctx   context.Context // ends when no more messages are to be sent
	end   context.CancelFunc
	all   sync.WaitGroup

	mu      sync.Mutex
	groups  map[string]*group
	sent    int
	last    time.Time     // of a send that succeeded
	longest time.Duration // between two
	slowest time.Duration // answer
}

// group is a message group, or all messages of a standard queue.
type group struct {
	sent    int // messages, numbered from 1
	seen    int // the highest received number
	deleted int // the highest number whose delete was acknowledged
	all     map[int]bool
}

// load starts to send to a queue and to receive from it, through these nodes.
func (w *world) load(name string, nodes ...string) *traffic {
	w.t.Helper()
	var tags map[string]string
	if !isFIFO(name) {
		tags = map[string]string{catalog.TagShards: "3"}
	}
	w.does(func() error { return w.at(nodes[0]).create(name, tags) })
	t := &traffic{w: w, queue: name, nodes: nodes, groups: make(map[string]*group), last: time.Now()}
	t.ctx, t.end = context.WithCancel(w.life)
	w.ending.Add(1)
	go func() { // when the test gives up
		defer w.ending.Done()
		<-w.life.Done()
		t.all.Wait()
	}()
	for i := range 3 {
		g := &group{all: make(map[int]bool)}
		t.groups["g"+strconv.Itoa(i)] = g
		t.all.Go(func() { t.produce("g"+strconv.Itoa(i), g, i) })
	}
	for i := range 2 {
		t.all.Go(func() { t.consume(i) })
	}
	return t
}

func (t *traffic) fifo() bool { return isFIFO(t.queue) }

// process returns a process that serves, or nil.
func (t *traffic) process(turn int) *process {
	t.mu.Lock()
	name := t.nodes[turn%len(t.nodes)]
	t.mu.Unlock()
	return t.w.serving(name)
}

// through makes the clients use these nodes from now on.
func (t *traffic) through(nodes ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.nodes = nodes
}

func (t *traffic) timed(began time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.slowest = max(t.slowest, time.Since(began))
}

func (t *traffic) produce(name string, g *group, turn int) {
	for t.ctx.Err() == nil {
		t.mu.Lock()
		n := g.sent + 1
		t.mu.Unlock()
		m := queue.Outgoing{Body: name + " " + strconv.Itoa(n)}
		if t.fifo() {
			m.Group, m.Dedup = name, m.Body
		}
		for ; t.w.life.Err() == nil; turn++ {
			p := t.process(turn)
			if p == nil {
				time.Sleep(10 * time.Millisecond)
				continue
			}
			q := p.catalog.Find(named(t.queue))
			if q == nil {
				time.Sleep(50 * time.Millisecond)
				continue
			}
			began := time.Now()
			_, err := p.node.Router().Send(context.Background(), q.ID, []queue.Outgoing{m})
			t.timed(began)
			if err == nil {
				break
			}
			if !errors.Is(err, shard.ErrUnavailable) {
				t.w.t.Errorf("send through %s: %v", p.machine.name, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if t.w.life.Err() != nil {
			return
		}
		t.mu.Lock()
		g.sent = n
		t.sent++
		t.longest = max(t.longest, time.Since(t.last))
		t.last = time.Now()
		t.mu.Unlock()
		time.Sleep(150 * time.Millisecond)
	}
}

func (t *traffic) consume(turn int) {
	for ; !t.over() && t.w.life.Err() == nil; turn++ {
		p := t.process(turn)
		if p == nil || p.catalog.Find(named(t.queue)) == nil {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		id := p.catalog.Find(named(t.queue)).ID
		got, err := p.node.Router().Receive(context.Background(), id, queue.Receive{Max: 10}, time.Second)
		if err != nil {
			if !errors.Is(err, shard.ErrUnavailable) {
				t.w.t.Errorf("receive through %s: %v", p.machine.name, err)
			}
			time.Sleep(100 * time.Millisecond)
			continue
		}
		var receipts []queue.Receipt
		for i := range got {
			t.received(&got[i])
			receipts = append(receipts, queue.Receipt{Position: got[i].Position, Number: got[i].Receipt})
		}
		if len(got) == 0 {
			continue
		}
		began := time.Now()
		results, err := p.node.Router().Delete(context.Background(), id, receipts)
		t.timed(began)
		for i := range results {
			if err == nil && results[i] == nil {
				t.deleted(&got[i])
			}
		}
	}
}

func parse(body string) (name string, n int) {
	if _, err := fmt.Sscanf(body, "%s %d", &name, &n); err != nil {
		panic(err)
	}
	return name, n
}

func (t *traffic) received(m *shard.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, n := parse(m.Body)
	g := t.groups[name]
	g.all[n] = true
	if t.fifo() && (n <= g.deleted || n > g.seen+1) {
		t.w.t.Errorf("%s %d was received after %d, of which %d were deleted", name, n, g.seen, g.deleted)
	}
	g.seen = max(g.seen, n)
}

func (t *traffic) deleted(m *shard.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name, n := parse(m.Body)
	t.groups[name].deleted = max(t.groups[name].deleted, n)
}

// over reports whether all sent messages have been received, and no more will be sent.
func (t *traffic) over() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() == nil {
		return false
	}
	for _, g := range t.groups {
		if len(g.all) < g.sent {
			return false
		}
	}
	return true
}

// count returns the number of messages sent so far.
func (t *traffic) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sent
}

// goesOn waits until more messages have been sent.
func (t *traffic) goesOn() {
	t.w.t.Helper()
	now := t.count()
	t.w.eventually("messages are sent", func() bool { return t.count() > now+9 })
}

// finish stops sending and waits until all messages have been received.
func (t *traffic) finish() {
	t.w.t.Helper()
	t.end()
	finished := make(chan struct{})
	go func() { t.all.Wait(); close(finished) }()
	select {
	case <-finished:
	case <-time.After(enough):
		t.w.report()
		t.w.t.Errorf("not all sent messages have been received: %s", t)
		return
	}
	t.w.t.Logf("%d messages, %v at most without one, slowest answer %v", t.sent, t.longest, t.slowest)
}

func (t *traffic) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := t.queue
	for name, g := range t.groups {
		var lost []int
		for n := range g.sent {
			if !g.all[n+1] && len(lost) < 10 {
				lost = append(lost, n+1)
			}
		}
		slices.Sort(lost)
		out += fmt.Sprintf("; %s: %d sent, %d received, not %v", name, g.sent, len(g.all), lost)
	}
	return out
}
