package router_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

var (
	chaosSeed = flag.Uint64("chaos.seed", 0, "seed of TestChaos; 0 chooses one")
	chaosTime = flag.Duration("chaos.time", time.Second, "how long each TestChaos lets things go wrong")
)

// history has the observations of producers and consumers, and knows what a queue must not do.
type history struct {
	t *testing.T

	mu      sync.Mutex
	sent    map[string]bool // acknowledged
	deleted map[string]int  // number of acknowledged deletions
	holder  map[string]int  // of messages of a group, by group
	next    map[string]int  // of each group
}

func (h *history) acknowledged(messages []queue.Outgoing) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		h.sent[m.Body] = true
	}
}

// received records the messages that a consumer got.
func (h *history) received(consumer int, messages []shard.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		if h.deleted[m.Body] > 0 {
			h.t.Errorf("%s was delivered after it was deleted", m.Body)
		}
		if m.Dedup == "" {
			continue
		}
		if by, held := h.holder[m.Group]; held && by != consumer {
			h.t.Errorf("%s was delivered to consumer %d while %d has messages of its group", m.Body, consumer, by)
		}
		h.holder[m.Group] = consumer
		if n, _ := strconv.Atoi(m.Dedup); n != h.next[m.Group] {
			h.t.Errorf("%s was delivered when %d was next", m.Body, h.next[m.Group])
		}
		h.next[m.Group]++
	}
}

func (h *history) gone(messages []shard.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		h.deleted[m.Body]++
		delete(h.holder, m.Group)
	}
}

// taken records that received messages have been returned.
func (h *history) taken(messages []shard.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		if m.Dedup != "" {
			h.next[m.Group]--
			delete(h.holder, m.Group)
		}
	}
}

// patiently repeats calls for which shards are unavailable.
func patiently(t *testing.T, f func() error) {
	t.Helper()
	for end := time.Now().Add(testTimeout); ; time.Sleep(time.Millisecond) {
		err := f()
		if err == nil {
			return
		}
		if !errors.Is(err, shard.ErrUnavailable) || time.Now().After(end) {
			t.Error(err)
			return
		}
	}
}

// While shards move between nodes all the time and consumers come and go, a spread queue loses nothing, delivers
// nothing twice, keeps the order of its groups and leaves nothing invisible. If nodes are also cut off, answers are
// lost and messages stay invisible, but the rest still holds.
func TestChaos(t *testing.T) {
	for _, id := range []queue.ID{wide, groups} {
		seed := *chaosSeed
		if seed == 0 {
			seed = rand.Uint64()
		}
		t.Run(fmt.Sprintf("queue=%d,moves,seed=%d", id, seed), func(t *testing.T) { chaos(t, id, seed, false) })
		t.Run(fmt.Sprintf("queue=%d,cuts,seed=%d", id, seed), func(t *testing.T) { chaos(t, id, seed, true) })
	}
}

func chaos(t *testing.T, id queue.ID, seed uint64, cuts bool) {
	c := newCluster(t, 4, "a", "b", "c")
	h := &history{
		t: t, sent: make(map[string]bool), deleted: make(map[string]int), holder: make(map[string]int),
		next: make(map[string]int),
	}
	stop, cancel := context.WithTimeout(t.Context(), *chaosTime)
	defer cancel()
	var all sync.WaitGroup
	rng := func(n int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(n))) }

	for p := range 3 {
		r, rng := c.router(c.nodes[p]), rng(p)
		all.Go(func() { produce(stop, t, h, r, id, p, rng) })
	}
	for n := range 4 {
		r, rng := c.router(c.nodes[n%3]), rng(100+n)
		all.Go(func() { consume(stop, t, h, r, id, n, rng) })
	}
	all.Go(func() {
		rng := rng(200)
		for stop.Err() == nil {
			if cuts && rng.IntN(4) == 0 {
				node := c.nodes[rng.IntN(len(c.nodes))]
				c.network.Cut(node, true)
				time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
				c.network.Cut(node, false)
			}
			n := 1 + rng.IntN(len(c.shards))
			c.take(n)
			time.Sleep(time.Duration(rng.IntN(5)) * time.Millisecond)
			c.give(n, c.nodes[rng.IntN(len(c.nodes))])
			time.Sleep(time.Duration(rng.IntN(10)) * time.Millisecond)
		}
	})
	all.Wait()

	r := c.router("a")
	if !cuts {
		c.settle(r, id)
	}
	for {
		got, err := r.Receive(t.Context(), id, queue.Receive{Max: 10}, 50*time.Millisecond)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 {
			break
		}
		h.received(-1, got)
		remove(t, h, r, id, got)
	}
	missing := 0
	for body := range h.sent {
		switch h.deleted[body] {
		case 0:
			missing++
		case 1:
		default:
			t.Errorf("%s was deleted %d times", body, h.deleted[body])
		}
	}
	counts, err := r.Counts(t.Context(), id)
	left := int(counts.Visible + counts.InFlight)
	if err != nil || missing > left || !cuts && left > 0 {
		t.Errorf("%d messages were neither deleted nor are there; left: %+v, %v", missing, counts, err)
	}
	t.Logf("%d messages sent, %d left", len(h.sent), left)
}

func produce(stop context.Context, t *testing.T, h *history, r *router.Router, id queue.ID, p int, rng *rand.Rand) {
	next := make(map[string]int)
	for n := 0; stop.Err() == nil; {
		var batch []queue.Outgoing
		for range 1 + rng.IntN(10) {
			m := queue.Outgoing{Body: fmt.Sprintf("%d/%d", p, n)}
			if id == groups {
				m.Group = fmt.Sprintf("%d-%d", p, rng.IntN(8))
				m.Dedup = strconv.Itoa(next[m.Group])
				m.Body = m.Group + "/" + m.Dedup
				next[m.Group]++
			}
			batch = append(batch, m)
			n++
		}
		patiently(t, func() error {
			_, err := r.Send(context.Background(), id, batch)
			if err != nil && id == wide && errors.Is(err, shard.ErrUnavailable) && !errors.Is(err, shard.ErrNotBegun) {
				// It may have been stored, and would be there twice.
				for i := range batch {
					batch[i].Body += "'"
				}
			}
			return err
		})
		h.acknowledged(batch)
	}
}

func consume(stop context.Context, t *testing.T, h *history, r *router.Router, id queue.ID, n int, rng *rand.Rand) {
	for stop.Err() == nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(1+rng.IntN(30))*time.Millisecond)
		wait := time.Duration(rng.IntN(2)) * testTimeout
		got, err := r.Receive(ctx, id, queue.Receive{Max: 1 + rng.IntN(10)}, wait)
		cancel()
		if err != nil {
			if !errors.Is(err, shard.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			continue
		}
		if len(got) == 0 {
			continue
		}
		h.received(n, got)
		if rng.IntN(8) == 0 {
			deliveries := make([]queue.Delivery, len(got))
			for i := range got {
				deliveries[i] = got[i].Delivery
			}
			h.taken(got) // before another consumer has them
			patiently(t, func() error { return r.Return(context.Background(), id, deliveries, "") })
			continue
		}
		remove(t, h, r, id, got)
	}
}

// remove deletes messages.
func remove(t *testing.T, h *history, r *router.Router, id queue.ID, got []shard.Message) {
	var receipts []queue.Receipt
	for i := range got {
		receipts = append(receipts, receipt(&got[i]))
	}
	h.gone(got) // before the next of its group can be delivered
	patiently(t, func() error {
		results, err := r.Delete(context.Background(), id, receipts)
		return errors.Join(append(results, err)...)
	})
}
