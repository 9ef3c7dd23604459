package catalog_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

// watch records the changes that a catalog announces, as "made jobs", and checks that the catalog shows them by then.
func watch(t *testing.T, c *catalog.Catalog) func() []string {
	var told []string
	c.OnChange(func(old, new *catalog.Queue) {
		what, q := "changed", new
		switch {
		case old == nil:
			what = "made"
		case new == nil:
			what, q = "deleted", old
		}
		if got := c.ByID(q.ID); got != new {
			t.Errorf("%s %s: the catalog has %v", what, q.Name.Queue, got)
		}
		told = append(told, fmt.Sprint(what, " ", q.Name.Queue, " ", q.Attributes.DelaySeconds))
	})
	return func() []string {
		all := told
		told = nil
		return all
	}
}

func named(name string) catalog.Name {
	return catalog.Name{Account: jobs.Account, Region: jobs.Region, Queue: name}
}

// A watcher gets each change once, in order, at the node that makes the change and at one that follows.
func TestOnChange(t *testing.T) {
	ours, theirs := storetest.Memory(t), storetest.Memory(t)
	var batches [][]byte
	owner := control.New(control.Options{Store: ours, Follow: true})
	owner.Own(func(tx *store.Txn) error {
		batch := slices.Clone(tx.Bytes())
		batches = append(batches, batch)
		if err := ours.Commit(tx); err != nil {
			return err
		}
		return owner.Apply(batch)
	})
	if err := owner.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Options{Control: owner, Place: func(q, _ *catalog.Queue) {
		if q.Name.Queue == "wide" {
			q.Shards = []int{1, 3}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	told := watch(t, c)

	// The follower has the queues that existed before it.
	follower := control.New(control.Options{Store: theirs, Follow: true})
	copyStore(t, theirs, ours)
	f, err := catalog.Open(catalog.Options{Control: follower})
	if err != nil {
		t.Fatal(err)
	}
	toldToo := watch(t, f)
	batches = nil

	one, err := create(c, jobs, catalog.Attributes{}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := create(c, named("wide"), catalog.Attributes{}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := update(c, jobs, one.ID,
		func(q *catalog.Queue) error { q.Attributes.DelaySeconds = 7; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := remove(c, named("wide"), wide.ID, now); err != nil {
		t.Fatal(err)
	}
	again, err := create(c, named("wide"), catalog.Attributes{}, nil, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"made jobs 0", "made wide 0", "changed jobs 7", "deleted wide 0", "made wide 0"}
	if got := told(); !slices.Equal(got, want) {
		t.Errorf("told %q", got)
	}
	for _, batch := range batches {
		if err := follower.Apply(batch); err != nil {
			t.Fatal(err)
		}
	}
	if got := toldToo(); !slices.Equal(got, want) {
		t.Errorf("the follower sees %q", got)
	}
	for _, c := range []*catalog.Catalog{c, f} {
		if q := c.Find(named("wide")); q == nil || q.ID != again.ID || !reflect.DeepEqual(q.Shards, []int{1, 3}) ||
			c.ByID(wide.ID) != nil {
			t.Errorf("has %+v", q)
		}
		if q := c.ByID(one.ID); q == nil || q.Shards != nil || q.Attributes.DelaySeconds != 7 {
			t.Errorf("has %+v", q)
		}
	}

	// A follower that gets the store again gets the differences.
	newest, err := create(c, named("new"), catalog.Attributes{}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := remove(c, named("wide"), again.ID, now); err != nil {
		t.Fatal(err)
	}
	if err := update(c, jobs, one.ID,
		func(q *catalog.Queue) error { q.Attributes.DelaySeconds = 8; return nil }); err != nil {
		t.Fatal(err)
	}
	checkpoint := storetest.Memory(t)
	copyStore(t, checkpoint, ours)
	if err := follower.Reload(checkpoint); err != nil {
		t.Fatal(err)
	}
	if got := toldToo(); !slices.Equal(got, []string{"deleted wide 0", "changed jobs 8", "made new 0"}) {
		t.Errorf("the follower sees %q", got)
	}
	if f.ByID(newest.ID) == nil || string(f.Secret()) != string(c.Secret()) {
		t.Error("the follower has not caught up")
	}
}

func copyStore(t *testing.T, to, from *store.Store) {
	t.Helper()
	tx := to.Begin()
	defer tx.Release()
	err := from.Scan(nil, nil, func(k, v []byte) bool { tx.Set(k, v); return true })
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Commit(tx); err != nil {
		t.Fatal(err)
	}
}

// A store without the record of a queue, and without its tombstone, does not mean that the queue was deleted.
func TestOlderStoreDeletesNothing(t *testing.T) {
	t.Parallel()
	g := newGraveyard(t)
	g.create(3)
	g.remove(3)
	older, before, newer := storetest.Memory(t), storetest.Memory(t), storetest.Memory(t)
	copyStore(t, older, g.ctl.Store())
	copyStore(t, before, g.ctl.Store())
	g.create(1)
	told := watch(t, g.catalog)
	if err := g.ctl.Reload(older); err != nil {
		t.Fatal(err)
	}
	if got := told(); len(got) > 0 {
		t.Errorf("after the older store the changes are %q", got)
	}
	g.remove(2)
	copyStore(t, newer, g.ctl.Store())
	again := control.New(control.Options{Store: before})
	c, err := catalog.Open(catalog.Options{Control: again})
	if err != nil {
		t.Fatal(err)
	}
	told = watch(t, c)
	if err := again.Reload(newer); err != nil {
		t.Fatal(err)
	}
	if got := told(); len(got) != 1 || !strings.HasPrefix(got[0], "deleted ") {
		t.Errorf("after a store with a tombstone the changes are %q", got)
	}
}

// A watcher that is called for a change may read the catalog without a deadlock. Engines do so when they are loaded
// again.
func TestWatcherLooks(t *testing.T) {
	c, closeIt := newDisk().open(t)
	defer closeIt()
	c.OnChange(func(_, new *catalog.Queue) {
		done := make(chan *catalog.Queue)
		go func() { done <- c.Find(new.Name) }()
		if q := <-done; q != new || len(c.All()) != 1 {
			t.Errorf("finds %v", q)
		}
	})
	if _, err := create(c, jobs, catalog.Attributes{}, nil, now); err != nil {
		t.Fatal(err)
	}
}

// Without a secret no receipt handle could be authenticated. So no catalog exists before there is a secret, which is
// created once.
func TestInitialise(t *testing.T) {
	ctl := control.New(control.Options{Store: storetest.Memory(t)})
	if _, err := catalog.Open(catalog.Options{Control: ctl}); err == nil {
		t.Error("opened")
	}
	var secrets []string
	for range 2 {
		if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
			t.Fatal(err)
		}
		c, err := catalog.Open(catalog.Options{Control: ctl})
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, string(c.Secret()))
	}
	if secrets[0] != secrets[1] || len(secrets[0]) != 32 {
		t.Errorf("%d bytes, the same: %t", len(secrets[0]), secrets[0] == secrets[1])
	}
}
