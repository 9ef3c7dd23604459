package router

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/queue"
)

func TestPositions(t *testing.T) {
	for _, p := range []queue.Position{1, 2, 1<<51 - 1, 1 << 63, 1<<63 | 5, 1<<63 | (1<<51 - 1)} {
		if encodeShard(p, 1) != p {
			t.Errorf("%v changes on the first shard", p)
		}
		for _, n := range []int{1, 2, 3, 64, MaxShards} {
			if inner, shard := decodeShard(encodeShard(p, n)); inner != p || shard != n {
				t.Errorf("%v on shard %d comes back as %v on %d", p, n, inner, shard)
			}
		}
	}
}

func TestPlace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := queue.ID(rapid.Uint64().Draw(t, "id"))
		shards := rapid.IntRange(1, 100).Draw(t, "shards")
		var have []int
		for range rapid.IntRange(1, 5).Draw(t, "changes") {
			spread := rapid.IntRange(1, 64).Draw(t, "spread")
			got := Place(id, have, spread, shards)
			want := max(len(have), min(spread, shards))
			sorted := slices.Sorted(slices.Values(got))
			if len(got) != want || len(slices.Compact(sorted)) != want || sorted[0] < 1 || sorted[want-1] > shards {
				t.Fatalf("%d of %d shards: %v", spread, shards, got)
			}
			if !slices.Equal(got[:len(have)], have) {
				t.Fatalf("%v becomes %v", have, got)
			}
			if !slices.Equal(got, Place(id, have, spread, shards)) {
				t.Fatal("two results for the same question")
			}
			have, shards = got, shards+rapid.IntRange(0, 10).Draw(t, "more")
		}
	})
}

func TestQueuesAreSpreadEvenly(t *testing.T) {
	const queues, shards = 20_000, 10
	for _, spread := range []int{1, 3} {
		first, all := make([]int, shards+1), make([]int, shards+1)
		for id := range queue.ID(queues) {
			got := Place(id+1, nil, spread, shards)
			first[got[0]]++
			for _, n := range got {
				all[n]++
			}
		}
		for n := 1; n <= shards; n++ {
			if mean := float64(queues) / shards; math.Abs(float64(first[n])-mean) > mean/10 ||
				math.Abs(float64(all[n])-mean*float64(spread)) > mean*float64(spread)/10 {
				t.Errorf("shard %d is the first of %d queues and has %d", n, first[n], all[n])
			}
		}
	}
}

// The functions that decide where the messages of queues are must never change.
func TestPlacesAreForEver(t *testing.T) {
	for _, tc := range []struct {
		got  any
		want string
	}{
		{Place(1, nil, 4, 8), "[1 4 2 5]"},
		{Place(12345, nil, 2, 3), "[3 1]"},
		{[]int{queue.PartOf("", 7), queue.PartOf("a", 7), queue.PartOf("customer-42", 7),
			queue.PartOf("customer-43", 7)}, "[0 0 5 3]"},
	} {
		if fmt.Sprint(tc.got) != tc.want {
			t.Errorf("got %v, want %s", tc.got, tc.want)
		}
	}
}

func TestGroupsAreSpreadEvenly(t *testing.T) {
	const groups, shards = 20_000, 7
	var have [shards]int
	for i := range groups {
		have[queue.PartOf(fmt.Sprintf("customer-%d", i), shards)]++
	}
	for n, got := range have {
		if mean := float64(groups) / shards; math.Abs(float64(got)-mean) > mean/10 {
			t.Errorf("shard %d has %d groups", n, got)
		}
	}
}

func TestAssign(t *testing.T) {
	byGroup := catalog.Attributes{FIFO: true, DedupScope: "messageGroup", Throughput: "perMessageGroupId"}
	tag := func(n string) map[string]string { return map[string]string{catalog.TagShards: n} }
	made := func(q catalog.Queue, spread, shards int) catalog.Queue {
		q.ID, q.Name.Account = 7, "000000000000"
		Assign(&q, nil, spread, shards)
		return q
	}
	changed := func(old catalog.Queue, change func(*catalog.Queue), spread, shards int) catalog.Queue {
		q := old
		change(&q)
		Assign(&q, &old, spread, shards)
		return q
	}
	retag := func(n string) func(*catalog.Queue) { return func(q *catalog.Queue) { q.Tags = tag(n) } }
	expect := func(what string, q catalog.Queue, shards, sends int) {
		t.Helper()
		p := PlacementOf(&q, nil)
		if len(p.Shards) != shards || len(p.Sends) != sends || p.FIFO != q.Attributes.FIFO {
			t.Errorf("%s: %+v", what, p)
		}
	}
	expect("a standard queue", made(catalog.Queue{}, 1, 8), 1, 1)
	expect("one that is spread by default", made(catalog.Queue{}, 3, 8), 3, 3)
	expect("one on fewer shards than wanted", made(catalog.Queue{}, 9, 8), 8, 8)
	expect("one that is spread by its tag", made(catalog.Queue{Tags: tag("4")}, 1, 8), 4, 4)
	expect("one that is kept together by its tag", made(catalog.Queue{Tags: tag("1")}, 4, 8), 1, 1)
	expect("a FIFO queue", made(catalog.Queue{Attributes: catalog.Attributes{FIFO: true}, Tags: tag("4")}, 4, 8), 1, 1)
	expect("one of independent groups", made(catalog.Queue{Attributes: byGroup, Tags: tag("4")}, 1, 8), 4, 4)
	expect("one that a single node has made", catalog.Queue{}, 1, 1)

	q := made(catalog.Queue{}, 2, 8)
	expect("with another default", changed(q, func(q *catalog.Queue) { q.Attributes.DelaySeconds = 1 }, 5, 8), 2, 2)
	q = changed(q, retag("5"), 2, 8)
	expect("wider", q, 5, 5)
	q = changed(q, retag("3"), 2, 8)
	expect("narrower", q, 5, 3)
	q = changed(q, retag("6"), 2, 8)
	expect("wider again", q, 6, 6)
	q = changed(q, func(q *catalog.Queue) { q.Tags = nil }, 2, 8)
	expect("without tag", q, 6, 2)

	old := changed(catalog.Queue{ID: 7}, retag("3"), 1, 8)
	expect("from a single node", old, 3, 3)
	if old.Shards[0] != 1 {
		t.Errorf("where its messages are comes first: %v", old.Shards)
	}
	fifo := made(catalog.Queue{Attributes: byGroup, Tags: tag("2")}, 1, 8)
	expect("a FIFO queue stays where it is", changed(fifo, retag("5"), 1, 8), 2, 2)
}

func TestInternalQueuesAreOnOneShard(t *testing.T) {
	q := &catalog.Queue{ID: 7, Name: catalog.SubscriptionQueue("1")}
	if Assign(q, nil, 3, 8); len(q.Shards) != 1 {
		t.Errorf("on %v", q.Shards)
	}
}
