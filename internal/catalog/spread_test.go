package catalog_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Each shard's engine learns its part of a queue.
func TestConfigOnShards(t *testing.T) {
	name := catalog.Name{Account: jobs.Account, Region: jobs.Region, Queue: "jobs.fifo"}
	for _, tc := range []struct {
		queue catalog.Queue
		want  string // away, or part of parts, on shards 1 to 4
	}{
		{catalog.Queue{Name: jobs}, "[0/0 away away away]"},
		{catalog.Queue{Name: jobs, Shards: []int{3}}, "[away away 0/0 away]"},
		{catalog.Queue{Name: jobs, Shards: []int{3, 1}}, "[0/0 away 0/0 away]"},
		{catalog.Queue{Name: name, Shards: []int{2}, Attributes: catalog.Attributes{FIFO: true}},
			"[away 0/0 away away]"},
		{catalog.Queue{Name: name, Shards: []int{4, 1, 2}, Attributes: catalog.Attributes{FIFO: true}},
			"[1/3 2/3 away 0/3]"},
	} {
		var got []string
		for shard := 1; shard <= 4; shard++ {
			c := tc.queue.ConfigOn(shard)
			if c.Elsewhere {
				got = append(got, "away")
			} else {
				got = append(got, fmt.Sprintf("%d/%d", c.Part, c.Parts))
			}
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("shards %v: %v, want %s", tc.queue.Shards, got, tc.want)
		}
	}
}

// Place gets every change, with the previous record.
func TestPlace(t *testing.T) {
	st, err := store.OpenMemory(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	ctl := control.New(control.Options{Store: st})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Options{Control: ctl, Place: func(q, old *catalog.Queue) {
		if old == nil {
			q.Shards = []int{4}
		} else if q.Spread() != old.Spread() {
			q.Shards, q.Sends = append(slices.Clone(q.Shards), 5), q.Spread()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	made, err := create(c, jobs, catalog.Attributes{}, nil, now)
	if err != nil || fmt.Sprint(made.Shards, made.Sends) != "[4] 0" {
		t.Fatalf("made %+v, %v", made, err)
	}
	change := func(f func(*catalog.Queue)) {
		t.Helper()
		if err := update(c, jobs, made.ID, func(q *catalog.Queue) error { f(q); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	change(func(q *catalog.Queue) { q.Attributes.DelaySeconds = 1 })
	if q := c.Find(jobs); fmt.Sprint(q.Shards, q.Sends) != "[4] 0" {
		t.Errorf("another change: %+v", q)
	}
	change(func(q *catalog.Queue) { q.Tags = map[string]string{catalog.TagShards: "1"} })
	if q := c.Find(jobs); fmt.Sprint(q.Shards, q.Sends) != "[4 5] 1" {
		t.Errorf("a change of the tag: %+v", q)
	}
}
