package cluster_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/cluster"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// A question goes to all other nodes, and those that do not answer are named.
func TestAsk(t *testing.T) {
	inWorld(t, func(w *world) {
		w.options = func(o *cluster.Options) {
			name := o.Name
			o.Answer = func(_ context.Context, question []byte) ([]byte, error) {
				if name == "c" && string(question) == "odd" {
					return nil, fmt.Errorf("unknown question %q", question)
				}
				return append([]byte(name), question...), nil
			}
		}
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		ask := func(question string) (answers, silent []string) {
			got, silent := w.at("a").node.Ask(context.Background(), []byte(question))
			for _, answer := range got {
				answers = append(answers, string(answer))
			}
			slices.Sort(answers)
			return answers, silent
		}
		if answers, silent := ask("?"); !slices.Equal(answers, []string{"b?", "c?"}) || len(silent) != 0 {
			t.Errorf("the answers %q, silent %q", answers, silent)
		}
		if answers, silent := ask("odd"); !slices.Equal(answers, []string{"bodd"}) ||
			!slices.Equal(silent, []string{"c"}) {
			t.Errorf("the answers %q, silent %q", answers, silent)
		}
		w.kill("b")
		if answers, silent := ask("?"); !slices.Equal(answers, []string{"c?"}) ||
			len(silent) > 0 && !slices.Equal(silent, []string{"b"}) {
			t.Errorf("when b is dead: the answers %q, silent %q", answers, silent)
		}
	})
}

// Every node shows the messages of a queue, even after the shards have changed owners.
func TestLookFromEveryNode(t *testing.T) {
	inWorld(t, func(w *world) {
		w.start("a", "b", "c")
		w.settled("a", "b", "c")
		w.does(func() error { return w.at("a").create("wide", map[string]string{catalog.TagShards: "3"}) })
		for i := range 20 {
			w.at("a").send("wide", fmt.Sprint(i))
		}
		look := func(names ...string) {
			for _, name := range names {
				p := w.at(name)
				w.does(func() error { return p.node.CatchUp(context.Background()) })
				id := p.catalog.Find(named("wide")).ID
				var found queue.PeekResult
				w.does(func() (err error) {
					found, err = p.node.Router().Peek(context.Background(), id, queue.Peek{
						States: queue.AllStates, Max: 100, Bodies: true,
					})
					if err == nil && found.More {
						return errors.New("the look took long")
					}
					return err
				})
				var states []shard.State
				w.does(func() (err error) {
					states, err = p.node.Router().States(context.Background(), id)
					return err
				})
				visible := uint64(0)
				for _, st := range states {
					visible += st.Visible
					if st.Node == "" {
						t.Errorf("from %s: shard %d is on no node", name, st.Shard)
					}
				}
				if len(found.Messages) != 20 || found.Scanned != 20 || visible != 20 || len(states) != 3 {
					t.Errorf("from %s: %d messages, %d scanned, %d visible on %d shards", name, len(found.Messages),
						found.Scanned, visible, len(states))
				}
			}
		}
		look("a", "b", "c")
		w.kill("b")
		w.settled("a", "c")
		look("a", "c")
	})
}
