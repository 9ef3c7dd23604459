//go:build !race

// In real time a client without an answer tries again; the counts here are exact only in a bubble.

package cluster_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// sightings are the calls of the watchers of shards, by node.
type sightings struct {
	mu   sync.Mutex
	open map[string]int // watchers, by node
	all  []string
}

func (s *sightings) add(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
}

// take returns the sightings since the previous call.
func (s *sightings) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := s.all
	s.all = nil
	return all
}

func (s *sightings) count(node string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[node] += n
}

// sighter is the watcher of a shard on a node.
type sighter struct {
	*sightings
	node string
}

func (s *sighter) Received(_ queue.ID, _ queue.Instant, messages []shard.Message) {
	for _, m := range messages {
		s.add("received " + m.Body + " at " + s.node)
	}
}

func (s *sighter) DeadLettered([]queue.DeadLetter) { s.add("dead-lettered at " + s.node) }

func (s *sighter) Returned(queue.ID, []queue.Delivery) { s.add("returned at " + s.node) }

func (s *sighter) Deleted(queue.ID, queue.Instant, []queue.Receipt, []error) {
	s.add("deleted at " + s.node)
}

func (s *sighter) VisibilityChanged(queue.ID, queue.Instant, []queue.Visibility, []error) {
	s.add("changed at " + s.node)
}

func (s *sighter) Purged(queue.ID) { s.add("purged at " + s.node) }

func (s *sighter) Close() { s.count(s.node, -1) }

// Whichever node a client calls, only the watcher on the node that owns the shard is called. It is closed when the node
// no longer owns the shard.
func TestOwnerIsToldOfMessages(t *testing.T) {
	inWorld(t, func(w *world) {
		seen := &sightings{open: make(map[string]int)}
		w.options = func(o *cluster.Options) {
			name := o.Name
			o.Watch = func(func() queue.Instant) shard.Watcher {
				seen.count(name, 1)
				return &sighter{seen, name}
			}
		}
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.does(func() error { return w.at("a").create("work", nil) })
		w.does(func() error { return w.at("b").node.CatchUp(context.Background()) })
		owner := w.at("a").node.Queues("", "work")[0].Shards[0].Owner
		nodes := slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return name == owner })
		use := func(node, want string) {
			t.Helper()
			p := w.at(node)
			w.does(func() error { return p.node.CatchUp(context.Background()) })
			p.send("work", "m")
			ctx, id := context.Background(), p.catalog.Find(named("work")).ID
			messages, err := p.node.Router().Receive(ctx, id, queue.Receive{Max: 1}, time.Second)
			if err != nil || len(messages) != 1 {
				t.Fatalf("%v, %v", messages, err)
			}
			receipt := queue.Receipt{Position: messages[0].Position, Number: messages[0].Receipt}
			if results, err := p.node.Router().Delete(ctx, id, []queue.Receipt{receipt}); err != nil ||
				results[0] != nil {
				t.Fatal(results, err)
			}
			if got := seen.take(); !slices.Equal(got, []string{"received m at " + want, "deleted at " + want}) {
				t.Errorf("through %s: %q", node, got)
			}
		}
		for _, node := range append(nodes, owner) {
			use(node, owner)
		}
		w.stop(owner)
		seen.mu.Lock()
		if n := seen.open[owner]; n != 0 {
			t.Errorf("%d watchers of a node that has stopped are open", n)
		}
		seen.mu.Unlock()
		w.settled(nodes...)
		next := w.at(nodes[0]).node.Queues("", "work")[0].Shards[0].Owner
		for _, node := range nodes {
			use(node, next)
		}
	})
}
