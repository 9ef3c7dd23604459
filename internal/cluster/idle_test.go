//go:build !race

package cluster_test

// The minutes until a node checks again pass only in a bubble.

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/idle"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// sweep deletes unused queues on each node of a cluster. Its clock is ahead of the shards' clocks.
type sweep struct {
	*world
	ahead    atomic.Int64
	sealed   func(node string) // called when a node has learnt that a queue is sealed
	trails   map[string]*trail.Trail
	sweepers map[string]*idle.Sweeper
	stop     map[string]context.CancelFunc
}

func newSweep(w *world) *sweep {
	return &sweep{
		world: w, sealed: func(string) {}, trails: make(map[string]*trail.Trail),
		sweepers: make(map[string]*idle.Sweeper),
		stop:     make(map[string]context.CancelFunc),
	}
}

func (s *sweep) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

// run runs a sweeper beside a node, as its server would.
func (s *sweep) run(name string) {
	p := s.at(name)
	ctx, cancel := context.WithCancel(s.life)
	s.stop[name] = cancel
	s.trails[name] = trail.New(trail.Options{Control: p.node.Control(), Now: s.now})
	s.sweepers[name] = idle.New(idle.Options{
		Catalog: p.catalog, Trail: s.trails[name], After: 720 * time.Hour, Now: s.now,
		Log:     slog.New(slog.NewTextHandler(s.t.Output(), nil)).With("sweeper", name),
		Owner:   func() bool { return !p.node.Control().Elsewhere() },
		Fed:     func() map[string]bool { return make(map[string]bool) },
		Watched: func() map[string]bool { return nil },
		Measure: func(context.Context, time.Time, map[idle.Scope]int) error { return nil },
		Ready:   func() error { return nil }, Require: func() error { return nil },
		Uses: func(_ context.Context, ids []queue.ID) ([]queue.Use, error) {
			uses, err := p.node.Router().Uses(ctx, ids)
			if slices.ContainsFunc(uses, func(u queue.Use) bool { return u.Sealed }) {
				s.sealed(name)
			}
			return uses, errors.Join(err, ctx.Err())
		},
	})
	sweeper := s.sweepers[name]
	s.ending.Go(func() { sweeper.Run(ctx) })
}

// record returns a node's record of a queue.
func (s *sweep) record(node, name string) *catalog.Queue { return s.at(node).catalog.Find(named(name)) }

// Unused queues, one of them on all shards, are announced and deleted once, although the node that decides is killed
// when they are announced, and its successor when one is sealed. A message that arrives meanwhile is not lost.
func TestIdleQueuesOutliveOwners(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *cluster.Options) { o.Keep = queue.DefaultKeep }
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		s := newSweep(w)
		w.does(func() error { return w.at("a").create("wide", map[string]string{catalog.TagShards: "3"}) })
		w.does(func() error { return w.at("a").create("busy", nil) })
		for _, name := range []string{"a", "b", "c"} {
			s.run(name)
		}
		first := s.controlOwner()
		w.eventually("it is watched which queues are used",
			func() bool { return !w.at(first).catalog.IdleSince().IsZero() })
		s.ahead.Store(int64(29*24*time.Hour + 2*time.Hour))
		w.eventually("the queues are announced",
			func() bool { return s.record(first, "wide").Idle != nil && s.record(first, "busy").Idle != nil })
		s.stop[first]()
		w.kill(first)
		w.settled(slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return name == first })...)
		w.at(s.controlOwner()).send("busy", "m")

		// The node that now owns the control store is killed when it is about to delete the queue. Until its successor
		// deletes it, no request passes.
		killed := make(chan string)
		var once sync.Once
		s.sealed = func(node string) {
			once.Do(func() {
				s.stop[node]()
				killed <- node
			})
		}
		s.ahead.Store(int64(30*24*time.Hour + 2*time.Hour + 10*time.Minute))
		second := <-killed
		id := s.record(second, "wide").ID
		var refused error
		w.eventually("the shards answer", func() bool {
			_, refused = w.at(second).node.Router().Send(context.Background(), id, []queue.Outgoing{{Body: "late"}})
			return !errors.Is(refused, shard.ErrUnavailable)
		})
		if !errors.Is(refused, queue.ErrSealed) {
			t.Errorf("a send to a sealed queue: %v", refused)
		}
		w.start(first)
		w.settled("a", "b", "c")
		s.run(first)
		w.kill(second)
		third := s.controlOwner()
		w.eventually("the queue is deleted", func() bool { return s.record(third, "wide") == nil })
		w.eventually("the other stays", func() bool { q := s.record(third, "busy"); return q != nil && q.Idle == nil })
		w.pause(time.Minute)
		deleted := uint64(0)
		for _, sweeper := range s.sweepers {
			deleted += sweeper.Deleted()
		}
		if deleted != 1 {
			t.Errorf("%d queues were deleted", deleted)
		}
		found, _, err := s.trails[third].Find(trail.Query{Account: named("busy").Account, Max: 100})
		w.must(err)
		var events []string
		for _, e := range found {
			for _, name := range []string{"wide", "busy"} {
				if strings.Contains(e.Text, named(name).ARN()+`"`) {
					events = append(events, e.EventName+" "+name)
				}
			}
		}
		slices.Sort(events)
		want := []string{"AnnounceIdleQueueDeletion busy", "AnnounceIdleQueueDeletion wide", "DeleteIdleQueue wide",
			"RevokeIdleQueueDeletion busy"}
		if !slices.Equal(events, want) {
			t.Errorf("the trail contains %q", events)
		}
		var got []shard.Message
		w.does(func() (err error) {
			got, err = w.at(third).node.Router().Receive(context.Background(), s.record(third, "busy").ID,
				queue.Receive{Max: 1}, 0)
			return err
		})
		if len(got) != 1 || got[0].Body != "m" {
			t.Errorf("received %v", got)
		}
	})
}
