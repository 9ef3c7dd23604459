package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

func undelete(c *catalog.Catalog, n catalog.Name, now time.Time) (q *catalog.Queue, err error) {
	return control.Decide(context.Background(), c.Change,
		func(tx *catalog.Tx) (*catalog.Queue, error) { return tx.Undelete(n, now) })
}

func bury(c *catalog.Catalog, now time.Time, all bool) error {
	due := c.ToBury(now, all)
	return c.Change(context.Background(), func(tx *catalog.Tx) error { return tx.Bury(due) })
}

// A deletion can be undone for ten minutes by the time of the cluster, also if a node with a wrong clock becomes the
// owner of the control store.
func TestUndeleteWithAWrongClock(t *testing.T) {
	for name, wrong := range map[string]time.Duration{"ahead": time.Hour, "behind": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			d := newDisk()
			d.keeps = func() bool { return true }
			c, closeIt := d.open(t)
			defer closeIt()
			made, err := create(c, jobs, catalog.Attributes{}, nil, now)
			if err != nil {
				t.Fatal(err)
			}
			for _, deletedBy := range []time.Duration{0, wrong} {
				d.shift = -deletedBy
				if err := remove(c, jobs, made.ID, now.Add(deletedBy)); err != nil {
					t.Fatal(err)
				}
				for _, by := range []time.Duration{0, wrong} {
					d.shift = -by
					if due := c.ToBury(now.Add(catalog.UndoInterval-1).Add(by), false); len(due) != 0 {
						t.Errorf("deleted with a clock off by %v, it is buried too early by one off by %v", deletedBy, by)
					}
					if due := c.ToBury(now.Add(catalog.UndoInterval).Add(by), false); len(due) != 1 {
						t.Errorf("deleted with a clock off by %v, it is not buried by one off by %v", deletedBy, by)
					}
				}
				if _, err := undelete(c, jobs, now.Add(catalog.UndoInterval-1).Add(-d.shift)); err != nil {
					t.Errorf("the undo gives %v", err)
				}
			}
			if err := remove(c, jobs, made.ID, now.Add(-d.shift)); err != nil {
				t.Fatal(err)
			}
			anew := now.Add(catalog.RecreateInterval)
			q, err := create(c, jobs, catalog.Attributes{}, nil, anew.Add(-d.shift))
			if err != nil || !q.Created.Equal(anew) {
				t.Errorf("creating it again gives %v, %v", q, err)
			}
		})
	}
}

// A deleted queue can be restored unchanged for ten minutes, even after a restart. Until then its name is free.
func TestUndelete(t *testing.T) {
	d := newDisk()
	d.keeps = func() bool { return true }
	c, closeIt := d.open(t)
	attrs := catalog.Attributes{
		Policy: `{"x": 1}`, DelaySeconds: 5, Redrive: &catalog.Redrive{Target: "arn", MaxReceiveCount: 3},
	}
	made, err := create(c, jobs, attrs, map[string]string{"team": "a"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := undelete(c, jobs, now); !errors.Is(err, catalog.ErrNotShelved) {
		t.Errorf("nothing was deleted, and an undo gave %v", err)
	}
	if err := remove(c, jobs, made.ID, now); err != nil {
		t.Fatal(err)
	}
	closeIt()
	c, closeIt = d.open(t)
	defer closeIt()
	if c.Find(jobs) != nil || c.ByID(made.ID) != nil || c.Count(jobs.Account) != 0 || len(c.All()) != 0 ||
		c.Deleted(made.ID) {
		t.Error("a deleted queue is listed, or has a tombstone")
	}
	if configs := c.Configs(1); len(configs) != 1 || !configs[0].Shelved || configs[0].ID != made.ID {
		t.Errorf("the shard gets %+v", configs)
	}
	if _, err := create(c, jobs, attrs, nil, now.Add(30*time.Second)); !errors.Is(err, catalog.ErrDeletedRecently) {
		t.Errorf("creating it again gave %v", err)
	}
	if _, err := undelete(c, jobs, now.Add(catalog.UndoInterval)); !errors.Is(err, catalog.ErrNotShelved) {
		t.Errorf("an undo after ten minutes gave %v", err)
	}
	back, err := undelete(c, jobs, now.Add(catalog.UndoInterval-1))
	if err != nil {
		t.Fatal(err)
	}
	was := *made
	was.Undone = now
	if !reflect.DeepEqual(back, &was) || !reflect.DeepEqual(c.Find(jobs), &was) || c.ByID(made.ID) == nil ||
		c.Count(jobs.Account) != 1 {
		t.Errorf("the restored queue is %+v, and was %+v", back, made)
	}
	if again, err := undelete(c, jobs, now.Add(catalog.UndoInterval-1)); err != nil || again.ID != made.ID {
		t.Errorf("the repetition of the undo gave %+v, %v", again, err)
	}
	if _, err := undelete(c, jobs, now.Add(catalog.UndoInterval)); !errors.Is(err, catalog.ErrNotShelved) {
		t.Errorf("a repetition after ten minutes gave %v", err)
	}
	if err := remove(c, jobs, made.ID, now); err != nil {
		t.Fatal(err)
	}
	other, err := create(c, jobs, attrs, nil, now.Add(time.Minute))
	if err != nil || other.ID == made.ID {
		t.Fatalf("%+v, %v", other, err)
	}
	if _, err := undelete(c, jobs, now.Add(time.Minute)); !errors.Is(err, catalog.ErrExists) {
		t.Errorf("an undo while the name is in use gave %v", err)
	}
	if err := remove(c, jobs, other.ID, now.Add(2*time.Minute)); err != nil {
		t.Fatal(err)
	}
	if back, err = undelete(c, jobs, now.Add(2*time.Minute)); err != nil || back.ID != other.ID {
		t.Errorf("%+v came back, %v", back, err)
	}
}

// Nothing is kept that an older program would misread, for which there is no room, or that belongs to a topic.
func TestWhatIsNotShelved(t *testing.T) {
	t.Parallel()
	older := func(format int) error {
		if format >= formats.Shelved {
			return errors.New("node b runs an older program")
		}
		return nil
	}
	for _, c := range []struct {
		name  string
		of    catalog.Name
		ready func(int) error
		keeps bool
		want  bool
	}{
		{"kept", jobs, nil, true, true},
		{"older program", jobs, older, true, false},
		{"no room", jobs, nil, false, false},
		{"topic", catalog.TopicQueue("1"), nil, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			required := 0
			ctl := control.New(control.Options{Store: storetest.Memory(t)})
			if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
				t.Fatal(err)
			}
			cat, err := catalog.Open(catalog.Options{Control: ctl, Keeps: func() bool { return c.keeps },
				Formats: control.Formats{
					Ready: c.ready, Require: func(format int) error { required = max(required, format); return nil },
				}})
			if err != nil {
				t.Fatal(err)
			}
			q, err := create(cat, c.of, catalog.Attributes{}, nil, now)
			if err == nil {
				err = remove(cat, c.of, q.ID, now)
			}
			if err != nil {
				t.Fatal(err)
			}
			if kept := cat.Undeletable(c.of, now) != nil; kept != c.want || cat.Deleted(q.ID) == c.want ||
				(required == formats.Shelved) != c.want {
				t.Errorf("kept is %t, has a tombstone %t, needs format %d", kept, cat.Deleted(q.ID), required)
			}
		})
	}
}

// Once a deleted queue is kept, others are kept as well, even if the program of a node that is away is not known. If a
// deletion is not kept, an undo does not restore an older queue of that name.
func TestUndeleteRestoresTheLatestOrNothing(t *testing.T) {
	t.Parallel()
	away, keeps := false, true
	ctl := control.New(control.Options{Store: storetest.Memory(t)})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Options{
		Control: ctl, Keeps: func() bool { return keeps },
		Formats: control.Formats{Ready: func(int) error {
			if away {
				return errors.New("a node is away")
			}
			return nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	deleted := func(at time.Time) *catalog.Queue {
		t.Helper()
		q, err := create(c, jobs, catalog.Attributes{}, nil, at)
		if err == nil {
			err = remove(c, jobs, q.ID, at)
		}
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	first := deleted(now)
	away = true
	second := deleted(now.Add(time.Minute))
	if got := c.Undeletable(jobs, now.Add(time.Minute)); got == nil || got.ID != second.ID {
		t.Errorf("an undo would restore %+v, not queue %d", got, second.ID)
	}
	keeps = false
	third := deleted(now.Add(2 * time.Minute))
	if got := c.Undeletable(jobs, now.Add(2*time.Minute)); got != nil {
		t.Errorf("an undo would restore queue %d in place of queue %d", got.ID, third.ID)
	}
	for _, q := range []*catalog.Queue{first, second, third} {
		if !c.Deleted(q.ID) {
			t.Errorf("queue %d has no tombstone", q.ID)
		}
	}
}

// An account keeps a limited number of deleted queues: the latest.
func TestShelfIsLimited(t *testing.T) {
	t.Parallel()
	g := newGraveyard(t)
	g.keeps = true
	const most = 1000
	g.create(most + 2)
	first, second, last := g.live[1], g.live[2], g.live[most+2]
	for id := queue.ID(1); id <= most+2; id++ {
		g.remove(id)
	}
	if g.catalog.Undeletable(first, now) != nil || g.catalog.Undeletable(second, now) != nil || !g.catalog.Deleted(1) {
		t.Error("the queues that were deleted first are kept")
	}
	if g.catalog.Undeletable(last, now) == nil || g.catalog.Undeletable(g.live[3], now) != nil {
		t.Error("the queue that was deleted last is not kept")
	}
}

// mourner follows a catalog as a shard does.
type mourner struct {
	live, shelved map[queue.ID]bool
	bad           string
}

func (m *mourner) see(was, is *catalog.Queue) {
	switch {
	case is == nil:
		delete(m.live, was.ID)
		delete(m.shelved, was.ID)
	case is.Deleted.IsZero():
		if was == nil && m.shelved[is.ID] {
			m.bad = fmt.Sprintf("queue %d came back and is told as new", is.ID)
		}
		delete(m.shelved, is.ID)
		m.live[is.ID] = true
	default:
		if was == nil || !m.live[is.ID] {
			m.bad = fmt.Sprintf("queue %d was shelved and is told as %v", is.ID, was)
		}
		delete(m.live, is.ID)
		m.shelved[is.ID] = true
	}
}

// At any time a queue is listed, can be restored, or has a tombstone. Followers of the catalog learn the same, each
// change as one.
func TestShelfModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		g := newGraveyard(t)
		g.keeps = true
		seen := &mourner{live: map[queue.ID]bool{}, shelved: map[queue.ID]bool{}}
		g.catalog.OnChange(seen.see)
		names, on := map[queue.ID]catalog.Name{}, map[queue.ID]bool{}
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			live, shelved := slices.Sorted(maps.Keys(g.live)), slices.Sorted(maps.Keys(on))
			switch what := rapid.SampledFrom([]string{"create", "delete", "undelete", "bury", "open"}).Draw(r,
				"what"); {
			case what == "create":
				g.create(1)
				maps.Copy(names, g.live)
			case what == "delete" && len(live) > 0:
				ids := rapid.Permutation(live).Draw(r, "which")[:rapid.IntRange(1, len(live)).Draw(r, "n")]
				g.remove(ids...)
				for _, id := range ids {
					on[id] = true
				}
			case what == "undelete" && len(shelved) > 0:
				id := rapid.SampledFrom(shelved).Draw(r, "which")
				q, err := undelete(g.catalog, names[id], now)
				switch {
				case g.catalog.Find(names[id]) == nil, err != nil && !errors.Is(err, catalog.ErrExists):
					r.Fatalf("undo: %v", err)
				case err == nil:
					g.live[q.ID] = q.Name
					delete(on, q.ID)
				}
			case what == "bury":
				if err := bury(g.catalog, now, true); err != nil {
					r.Fatal(err)
				}
				clear(on)
			case what == "open":
				g.open()
				seen = &mourner{live: maps.Clone(seen.live), shelved: maps.Clone(seen.shelved)}
				g.catalog.OnChange(seen.see)
			}
		}
		configs := map[queue.ID]bool{}
		for _, cfg := range g.catalog.Configs(1) {
			configs[cfg.ID] = cfg.Shelved
		}
		for id := range names {
			_, live := g.live[id]
			shelved, known := configs[id]
			if known != (live || on[id]) || shelved != on[id] || g.catalog.Deleted(id) != (!live && !on[id]) ||
				seen.live[id] != live || seen.shelved[id] != on[id] {
				r.Fatalf("queue %d: live %t, on the shelf %t; the catalog says %t %t %t, a shard was told %t %t", id,
					live, on[id],
					known, shelved, g.catalog.Deleted(id), seen.live[id], seen.shelved[id])
			}
		}
		if seen.bad != "" {
			r.Fatal(seen.bad)
		}
	})
}
