package router_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
)

// A look into a queue on many shards, from whichever node, finds each message once, page after page, and receives none.
func TestPeek(t *testing.T) {
	c := newCluster(t, 5, "a", "b")
	a, b := c.router("a"), c.router("b")
	want := numbered("m", 100)
	for batch := range slices.Chunk(want, 2) {
		send(t, a, wide, batch...)
	}
	for most, r := range map[int]*router.Router{1: a, 7: b, 1000: b} {
		var got []string
		positions := make(map[queue.Position]bool)
		p := queue.Peek{States: queue.AllStates, Max: most, Bodies: true}
		scanned := uint64(0)
		for more := true; more; {
			page, err := r.Peek(t.Context(), wide, p)
			if err != nil || len(page.Messages) > most {
				t.Fatalf("a page of %d messages, %v", len(page.Messages), err)
			}
			for _, m := range page.Messages {
				got = append(got, m.Body)
				positions[m.Position] = true
			}
			scanned += page.Scanned
			more, p.After = page.More, page.Next
		}
		slices.Sort(got)
		equal(t, fmt.Sprintf("pages of %d", most), got, want)
		if len(positions) != len(want) || scanned != uint64(len(want)) {
			t.Errorf("%d positions, scanned %d", len(positions), scanned)
		}
	}
	if n, err := a.Counts(t.Context(), wide); err != nil || n != (queue.Counts{Visible: 100}) {
		t.Errorf("there are %+v, %v", n, err)
	}
	found, err := b.Peek(t.Context(), wide, queue.Peek{States: queue.AllStates, Max: 10, Filter: "m042"})
	if err != nil || len(found.Messages) != 1 || found.More || found.Scanned != 100 {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err := a.Peek(t.Context(), absent, queue.Peek{States: queue.AllStates, Max: 1}); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("no queue: %v", err)
	}
}
