package router_test

import (
	"testing"

	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/shard"
)

// A list of queues calls each shard once, wherever its owner is, and names the queues of which it knows too little.
func TestGlances(t *testing.T) {
	c := newCluster(t, 5, "a", "b")
	a, b := c.router("a"), c.router("b")
	for range 10 {
		send(t, a, wide, "m", "m")
	}
	send(t, b, single, "one")
	ids := []queue.ID{single, wide, groups, absent}
	glances := func() (visible map[queue.ID]uint64, sent map[queue.ID]int64, unknown map[queue.ID]bool) {
		t.Helper()
		list, err := b.Glances(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		visible, sent, unknown = make(map[queue.ID]uint64), make(map[queue.ID]int64), make(map[queue.ID]bool)
		for _, g := range list {
			if !g.Unavailable && !g.Served {
				t.Errorf("no message is on its way: %+v", g)
			}
			if (g.Oldest != 0) != (g.Visible > 0) {
				t.Errorf("%+v", g)
			}
			visible[g.ID] += g.Visible
			sent[g.ID] += g.Happened[queue.MetricSent]
			unknown[g.ID] = unknown[g.ID] || g.Unavailable
		}
		return visible, sent, unknown
	}
	visible, sent, unknown := glances()
	if visible[single] != 1 || visible[wide] != 20 || sent[wide] != 20 || sent[single] != 1 || unknown[single] ||
		unknown[wide] {
		t.Errorf("visible %v, sent %v, unknown %v", visible, sent, unknown)
	}
	if _, found := unknown[absent]; found {
		t.Error("the answer has a queue that does not exist")
	}
	// One shard has no owner. It is the only one of the first queue.
	c.take(2)
	visible, _, unknown = glances()
	if !unknown[single] || !unknown[wide] || !unknown[groups] || visible[single] != 0 {
		t.Errorf("visible %v, unknown %v", visible, unknown)
	}
	c.give(2, "a")
	if visible, _, unknown = glances(); visible[wide] != 20 || unknown[single] {
		t.Errorf("visible %v, unknown %v", visible, unknown)
	}
	many := make([]queue.ID, 2*shard.MaxGlances)
	for i := range many {
		many[i] = single
	}
	if list, err := a.Glances(t.Context(), many); err != nil || len(list) > shard.MaxGlances {
		t.Errorf("%d glances, %v", len(list), err)
	}
}
