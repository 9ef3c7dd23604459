package cluster_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
)

// A task that moves selected messages out of a queue on several shards continues when their owners die, one after the
// other. Each selected message is moved once, and the others stay.
func TestRedriveOutlivesOwners(t *testing.T) {
	inWorld(t, func(w *world) {
		ctx := context.Background()
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		p := w.at("a")
		w.does(func() error { return p.create("from", map[string]string{catalog.TagShards: "3"}) })
		w.does(func() error { return p.create("to", nil) })
		var moves, stays []string
		for i := range 120 {
			body := fmt.Sprintf("%03d stays", i)
			if i%2 == 0 {
				body = fmt.Sprintf("%03d moves", i)
				moves = append(moves, body)
			} else {
				stays = append(stays, body)
			}
			p.send("from", body)
		}
		from := p.catalog.Find(named("from"))
		w.does(func() error {
			return p.node.Router().StartMove(ctx, from.ID, queue.MoveTask{
				ID: "t", Rate: 3, Destination: named("to").ARN(), Selection: &queue.Selection{Filter: "moves"},
			})
		})
		task := func(name string) (task queue.MoveTask) {
			w.eventually("the task is listed", func() bool {
				list, err := w.at(name).node.Router().Moves(ctx, from.ID)
				if err == nil && len(list) == 1 {
					task = list[0]
				}
				return task.ID == "t"
			})
			return task
		}
		for _, node := range []string{"b", "c"} {
			w.pause(5 * time.Second)
			w.kill(node)
			w.settled(slices.DeleteFunc([]string{"a", "b", "c"}, func(name string) bool { return name == node })...)
			if got := task("a"); got.Selection == nil || got.Selection.Filter != "moves" {
				t.Errorf("the task is %+v", got)
			}
			w.start(node)
			w.settled("a", "b", "c")
		}
		w.eventually("the task is done", func() bool { return task("b").Status == queue.MoveCompleted })
		if got := task("c"); got.Moved != uint64(len(moves)) || got.Scanned != 120 || got.Ended == 0 {
			t.Errorf("the task is %+v", got)
		}
		bodies := func(name string) (list []string) {
			p := w.at("c")
			w.does(func() error { return p.node.CatchUp(ctx) })
			in := queue.Peek{States: queue.AllStates, Max: 500, Bodies: true}
			for {
				var found queue.PeekResult
				w.does(func() (err error) {
					found, err = p.node.Router().Peek(ctx, p.catalog.Find(named(name)).ID, in)
					return err
				})
				for _, m := range found.Messages {
					list = append(list, strings.Clone(m.Body))
				}
				if !found.More {
					slices.Sort(list)
					return list
				}
				in.After = found.Next
			}
		}
		w.eventually("all have arrived", func() bool { return len(bodies("to")) >= len(moves) })
		if got := bodies("to"); !slices.Equal(got, moves) {
			t.Errorf("%d of %d were moved", len(got), len(moves))
		}
		if got := bodies("from"); !slices.Equal(got, stays) {
			t.Errorf("%d of %d stay", len(got), len(stays))
		}
		// Every node sees the true states of the queues, in one call.
		for _, name := range []string{"a", "b", "c"} {
			p := w.at(name)
			w.does(func() error { return p.node.CatchUp(ctx) })
			ids := []queue.ID{p.catalog.Find(named("from")).ID, p.catalog.Find(named("to")).ID}
			visible := make(map[queue.ID]uint64)
			w.does(func() error {
				clear(visible)
				glances, err := p.node.Router().Glances(ctx, ids)
				for _, g := range glances {
					if g.Unavailable {
						return fmt.Errorf("from %s: %+v", name, g)
					}
					visible[g.ID] += g.Visible + g.Arriving
				}
				return err
			})
			if visible[ids[0]] != uint64(len(stays)) || visible[ids[1]] != uint64(len(moves)) {
				t.Errorf("from %s: %v", name, visible)
			}
		}
	})
}
