package router_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/cluster/router"
	"github.com/sluicemq/sluice/internal/queue"
)

// A peek into a queue on many shards, from any node, finds each message once, page after page, and receives none.
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
	if _, err := a.Peek(t.Context(), absent, queue.Peek{
		States: queue.AllStates, Max: 1,
	}); !errors.Is(err, queue.ErrNoQueue) {
		t.Errorf("no queue: %v", err)
	}
}

// The groups of a queue on many shards are listed once each, those with the oldest messages first, page after page.
func TestGroups(t *testing.T) {
	c := newCluster(t, 5, "a", "b")
	a, b := c.router("a"), c.router("b")
	var want []string
	for i := range 40 {
		name := fmt.Sprintf("g%02d", i)
		want = append(want, name)
		for k := range 1 + i%3 {
			if _, err := a.Send(t.Context(), groups,
				[]queue.Outgoing{{Body: "m", Group: name, Dedup: fmt.Sprint(name, k)}}); err != nil {
				t.Fatal(err)
			}
		}
		if i%4 == 0 {
			time.Sleep(2 * time.Millisecond) // the shards have the same clock, of milliseconds
		}
	}
	for most, r := range map[int]*router.Router{1: a, 7: b, 1000: b} {
		var got []string
		last, depth := queue.Instant(0), uint64(0)
		g := queue.Groups{Max: most}
		for more := true; more; {
			page, err := r.Groups(t.Context(), groups, g)
			if err != nil || len(page.Groups) > most {
				t.Fatalf("a page of %d groups, %v", len(page.Groups), err)
			}
			for _, group := range page.Groups {
				if group.Sent < last {
					t.Errorf("pages of %d: group %s is out of order", most, group.Name)
				}
				last = group.Sent
				depth += group.Depth
				got = append(got, group.Name)
			}
			more, g.After = page.More, page.Next
		}
		slices.Sort(got)
		equal(t, fmt.Sprintf("pages of %d", most), got, want)
		if depth != 79 {
			t.Errorf("pages of %d: %d messages", most, depth)
		}
	}
	states, err := b.States(t.Context(), groups)
	if err != nil || len(states) != 5 {
		t.Fatalf("%+v, %v", states, err)
	}
	visible, ready := uint64(0), uint64(0)
	for _, st := range states {
		visible += st.Visible
		ready += st.ReadyGroups
		if st.Node != c.owner(st.Shard) || st.Oldest == 0 && st.Visible > 0 {
			t.Errorf("%+v", st)
		}
	}
	if visible != 79 || ready != 40 {
		t.Errorf("%d messages in %d groups", visible, ready)
	}
}
