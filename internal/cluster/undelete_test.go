package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/datadir"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
)

// changeCatalog runs a change on the owner of the control shard.
func (w *world) changeCatalog(f func(p *process, tx *catalog.Tx) error) {
	w.t.Helper()
	w.eventually("the control shard is owned", func() bool {
		for name := range w.machines {
			p := w.serving(name)
			if p == nil {
				continue
			}
			err := p.catalog.Change(context.Background(), func(tx *catalog.Tx) error { return f(p, tx) })
			if err == nil {
				return true
			}
			if !errors.Is(err, control.ErrElsewhere) {
				w.t.Logf("%s: %v", name, err)
			}
		}
		return false
	})
}

// A deleted queue on several shards comes back with all its messages, although the owners of its shards and of the
// control shard die one after the other. All nodes know when its time is over.
func TestDeletedQueueOutlivesOwners(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		w.shelves = true
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		p := w.at("a")
		w.does(func() error { return p.create("jobs", map[string]string{catalog.TagShards: "3"}) })
		var sent []string
		for i := range 60 {
			body := fmt.Sprintf("%03d", i)
			sent = append(sent, body)
			p.send("jobs", body)
		}
		id := p.catalog.Find(named("jobs")).ID
		remove := func() {
			w.changeCatalog(func(p *process, tx *catalog.Tx) error {
				if p.catalog.Find(named("jobs")) == nil {
					return nil
				}
				return tx.Delete(named("jobs"), id, time.Now())
			})
		}
		remove()
		for _, node := range []string{"a", "b", "c"} {
			w.pause(2 * time.Second)
			w.kill(node)
			rest := slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return name == node })
			w.settled(rest...)
			q := w.at(rest[0])
			w.does(func() error { return q.node.CatchUp(ctx) })
			if _, err := q.node.Router().Counts(ctx, id); !errors.Is(err, queue.ErrNoQueue) {
				t.Errorf("the deleted queue gave %v", err)
			}
			w.start(node)
			w.settled("a", "b", "c")
		}
		w.changeCatalog(func(p *process, tx *catalog.Tx) error {
			if p.catalog.Find(named("jobs")) != nil {
				return nil
			}
			_, err := tx.Undelete(named("jobs"), time.Now())
			return err
		})
		for _, name := range []string{"a", "b", "c"} {
			p := w.at(name)
			w.does(func() error { return p.node.CatchUp(ctx) })
			var bodies []string
			w.does(func() error {
				in := queue.Peek{States: queue.AllStates, Max: 500, Bodies: true}
				for bodies = nil; ; {
					found, err := p.node.Router().Peek(ctx, id, in)
					for _, m := range found.Messages {
						bodies = append(bodies, strings.Clone(m.Body))
					}
					if err != nil || !found.More {
						return err
					}
					in.After = found.Next
				}
			})
			if slices.Sort(bodies); !slices.Equal(bodies, sent) {
				t.Errorf("from %s: %d of %d messages came back", name, len(bodies), len(sent))
			}
		}
		remove()
		w.changeCatalog(func(p *process, tx *catalog.Tx) error { return tx.Bury(p.catalog.ToBury(time.Now(), true)) })
		w.pause(time.Second)
		for _, name := range []string{"a", "b", "c"} {
			q := w.at(name)
			w.does(func() error { return q.node.CatchUp(ctx) })
			if !q.catalog.Deleted(id) || len(q.catalog.Configs(1)) != 0 {
				t.Errorf("%s still knows the queue", name)
			}
		}
	})
}

// A purge on one node keeps messages that older programs cannot read. The other nodes hold replicas of them, so all
// data directories get the format.
func TestFormatOfAShardReachesAllDirectories(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		p := w.at("a")
		w.does(func() error { return p.create("jobs", nil) })
		p.send("jobs", "m")
		w.does(func() error { return p.node.Router().Purge(context.Background(), p.catalog.Find(named("jobs")).ID) })
		for _, name := range []string{"a", "b", "c"} {
			f, err := datadir.ReadFormat(w.machines[name].dir)
			if w.must(err); f.Number < formats.Kept {
				t.Errorf("when the purge is answered, the directory of %s has the format %d", name, f.Number)
			}
			w.eventually("the directory of "+name+" has the format", func() bool {
				f, err := datadir.ReadFormat(w.machines[name].dir)
				w.must(err)
				return f.Number >= formats.Kept
			})
		}
	})
}
