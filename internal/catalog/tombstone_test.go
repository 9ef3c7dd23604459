package catalog_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// graveyard is a catalog with many queues, which programs with and without support for tombstones open.
type graveyard struct {
	t        *testing.T
	ctl      *control.Control
	catalog  *catalog.Catalog
	old      error // why no tombstones are written
	required int   // how often it was recorded that there are some
	live     map[queue.ID]catalog.Name
	keeps    bool // deleted queues can be restored
}

func newGraveyard(t *testing.T) *graveyard {
	t.Helper()
	g := &graveyard{
		t: t, ctl: control.New(control.Options{Store: storetest.Memory(t)}), live: make(map[queue.ID]catalog.Name),
	}
	if err := g.ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	g.open()
	return g
}

func (g *graveyard) open() {
	g.t.Helper()
	c, err := catalog.Open(catalog.Options{
		Control: g.ctl, NoCoolDowns: true, Keeps: func() bool { return g.keeps }, Formats: control.Formats{
			Ready:   func(int) error { return g.old },
			Require: func(int) error { g.required++; return nil },
		},
	})
	if err != nil {
		g.t.Fatal(err)
	}
	g.catalog = c
}

func (g *graveyard) create(n int) {
	g.t.Helper()
	for range n {
		name := named(fmt.Sprint("q", len(g.live), "-", g.required))
		for g.catalog.Find(name) != nil {
			name.Queue += "x"
		}
		q, err := create(g.catalog, name, catalog.Attributes{}, nil, now)
		if err != nil {
			g.t.Fatal(err)
		}
		g.live[q.ID] = name
	}
}

// remove deletes queues in one change.
func (g *graveyard) remove(ids ...queue.ID) {
	g.t.Helper()
	err := g.catalog.Change(g.t.Context(), func(tx *catalog.Tx) (err error) {
		for _, id := range ids {
			err = errors.Join(err, tx.Delete(g.live[id], id, now))
		}
		return err
	})
	if err != nil {
		g.t.Fatal(err)
	}
	for _, id := range ids {
		delete(g.live, id)
	}
}

// Every deleted queue has a tombstone, and no other id has one: neither an existing queue nor a future one.
func TestTombstones(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		g := newGraveyard(t)
		last := queue.ID(0)
		for range rapid.IntRange(1, 12).Draw(r, "steps") {
			n := rapid.IntRange(1, 5).Draw(r, "queues")
			if len(g.live) < n || rapid.Bool().Draw(r, "create") {
				g.create(n)
				last += queue.ID(n)
			} else {
				ids := slices.Sorted(maps.Keys(g.live))
				g.remove(rapid.Permutation(ids).Draw(r, "which")[:n]...)
			}
			if rapid.IntRange(0, 3).Draw(r, "open") == 0 {
				g.open()
			}
		}
		for id := range last + 3 {
			_, live := g.live[id]
			if want := 0 < id && id <= last && !live; g.required > 0 && g.catalog.Deleted(id) != want {
				r.Fatalf("queue %d of %d: deleted %t, want %t", id, last, !want, want)
			}
		}
	})
}

// While an older program may open the store there are no tombstones. The first deletion after that also writes those of
// all queues that were deleted before.
func TestTombstonesWaitForOlderPrograms(t *testing.T) {
	t.Parallel()
	g := newGraveyard(t)
	g.old = errors.New("node b runs an older program")
	g.create(1100) // more than a block
	g.remove(1, 2, 1050)
	if g.catalog.Deleted(1) || g.required > 0 {
		t.Fatal("an older program cannot read this")
	}
	g.old = nil
	g.remove(7)
	for id := range queue.ID(1105) {
		if want := slices.Contains([]queue.ID{1, 2, 7, 1050}, id); g.catalog.Deleted(id) != want {
			t.Errorf("queue %d: deleted %t", id, !want)
		}
	}
	if g.required == 0 {
		t.Error("the data directory does not require a newer program")
	}
	g.old = errors.New("node b is away, and its version is not known")
	g.open()
	if g.remove(8, 1100); !g.catalog.Deleted(8) || !g.catalog.Deleted(1100) {
		t.Error("a deletion writes no tombstone while a node is away, although there are tombstones already")
	}
	before := g.required
	if g.open(); g.required == before {
		t.Error("a program that reads tombstones does not record it")
	}
}

// Skipped ids belong to queues that were neither deleted nor will be created.
func TestSkip(t *testing.T) {
	t.Parallel()
	for _, live := range []int{0, 3} {
		g := newGraveyard(t)
		g.create(live)
		for range 2 {
			if err := g.catalog.Change(t.Context(), func(tx *catalog.Tx) error { return tx.Skip(5) }); err != nil {
				t.Fatal(err)
			}
		}
		g.create(2)
		if g.live[6] == (catalog.Name{}) || g.live[7] == (catalog.Name{}) {
			t.Errorf("the queues are %v", g.live)
		}
		g.remove(7)
		for id := range queue.ID(10) {
			if g.catalog.Deleted(id) != (id == 7) {
				t.Errorf("with %d queues, queue %d: deleted %t", live, id, id != 7)
			}
		}
	}
}

// Check finds tombstones that contradict the list, and damaged ones.
func TestDamagedTombstones(t *testing.T) {
	t.Parallel()
	for _, record := range []string{"{", "[[2,1]]", "[[1,1024]]", "[[5,6],[6,7]]", "[[1,1]]"} {
		s := storetest.Memory(t)
		ctl := control.New(control.Options{Store: s})
		if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Open(catalog.Options{Control: ctl})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := create(c, jobs, catalog.Attributes{}, nil, now); err != nil {
			t.Fatal(err)
		}
		tx := s.Begin()
		tx.Set([]byte("tombstones/0"), []byte(record))
		if err := s.Commit(tx); err != nil {
			t.Fatal(err)
		}
		tx.Release()
		if _, problems, err := catalog.Check(s); err != nil || len(problems) != 1 {
			t.Errorf("%s: %q, %v", record, problems, err)
		}
	}
}
