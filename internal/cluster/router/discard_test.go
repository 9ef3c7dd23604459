package router_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
)

// Messages of a queue on many shards are deleted by their ids from any node, and no others are.
func TestDiscard(t *testing.T) {
	c := newCluster(t, 5, "a", "b")
	a, b := c.router("a"), c.router("b")
	for i := range 40 {
		out := []queue.Outgoing{{Body: "m", ID: queue.MessageID{1, byte(i)}}}
		if _, err := a.Send(t.Context(), wide, out); err != nil {
			t.Fatal(err)
		}
	}
	list, err := b.Peek(t.Context(), wide, queue.Peek{States: queue.AllStates, Max: 100})
	if err != nil || len(list.Messages) != 40 {
		t.Fatalf("there are %d messages, %v", len(list.Messages), err)
	}
	absent := queue.MessageID{255, 255}
	for _, r := range []*router.Router{a, b} {
		ids := []queue.MessageID{absent}
		for _, m := range list.Messages[:15] {
			ids = append(ids, m.ID)
		}
		list.Messages = list.Messages[15:]
		var gone []queue.MessageID
		for ask := (queue.Locate{IDs: ids}); ; {
			got, err := r.Discard(t.Context(), wide, ask)
			if err != nil {
				t.Fatal(err)
			}
			gone = append(gone, got.IDs...)
			if ask.After = got.Next; !got.More {
				break
			}
		}
		if slices.Contains(gone, absent) || len(gone) != 15 {
			t.Errorf("%d messages are deleted", len(gone))
		}
	}
	if n, err := a.Counts(t.Context(), wide); err != nil || n.Visible != 10 {
		t.Errorf("there are %+v, %v", n, err)
	}
	left, err := a.Peek(t.Context(), wide, queue.Peek{States: queue.AllStates, Max: 100})
	if err != nil || len(left.Messages) != 10 {
		t.Errorf("left are %d, %v", len(left.Messages), err)
	}
	for _, m := range left.Messages {
		if !slices.ContainsFunc(list.Messages, func(want queue.Peeked) bool { return want.ID == m.ID }) {
			t.Errorf("%v is left", m.ID)
		}
	}
	ask := queue.Locate{IDs: []queue.MessageID{absent}}
	if _, err := a.Discard(t.Context(), 99, ask); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("no queue: %v", err)
	}
}
