package catalog_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/store"
	"github.com/sluicemq/sluice/internal/store/storetest"
)

var (
	now  = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	jobs = catalog.Name{Account: "000000000000", Region: "us-east-1", Queue: "jobs"}
)

// disk is a file system that outlives its catalogs.
type disk struct {
	fs    vfs.FS
	keeps func() bool // whether deleted queues can be restored
	shift time.Duration
}

// open opens the catalog on the disk; close it to open it again.
func (d *disk) open(t *testing.T) (c *catalog.Catalog, close func()) {
	t.Helper()
	s, err := store.Open("control", store.Options{FS: d.fs})
	if err != nil {
		t.Fatal(err)
	}
	ctl := control.New(control.Options{Store: s})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	shift := func() time.Duration { return d.shift }
	if c, err = catalog.Open(catalog.Options{Control: ctl, Keeps: d.keeps, Shift: shift}); err != nil {
		t.Fatal(err)
	}
	return c, sync.OnceFunc(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// create, update and remove are changes of one queue.
func create(c *catalog.Catalog, n catalog.Name, a catalog.Attributes, tags map[string]string,
	now time.Time) (q *catalog.Queue, err error) {
	err = c.Change(context.Background(), func(tx *catalog.Tx) (err error) {
		q, err = tx.Create(n, a, tags, now)
		return err
	})
	return q, err
}

func update(c *catalog.Catalog, n catalog.Name, id queue.ID, f func(*catalog.Queue) error) error {
	return c.Change(context.Background(), func(tx *catalog.Tx) error {
		_, err := tx.Update(n, id, f)
		return err
	})
}

func remove(c *catalog.Catalog, n catalog.Name, id queue.ID, now time.Time) error {
	return c.Change(context.Background(), func(tx *catalog.Tx) error { return tx.Delete(n, id, now) })
}

func newDisk() *disk { return &disk{fs: vfs.NewMem()} }

func all(*catalog.Queue) bool { return true }

func TestRecordsSurviveReopening(t *testing.T) {
	d := newDisk()
	c, closeIt := d.open(t)
	attrs := catalog.Attributes{
		DelaySeconds: 5, Policy: `{"x": 1}`, Redrive: &catalog.Redrive{Target: "arn", MaxReceiveCount: 3},
		RedriveAllow: &catalog.RedriveAllow{Permission: "byQueue", Sources: []string{"a"}}, FIFO: true,
		DedupScope: "queue",
	}
	made, err := create(c, jobs, attrs, map[string]string{"team": "a"}, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := update(c, jobs, made.ID,
		func(q *catalog.Queue) error { q.Attributes.DelaySeconds = 7; return nil }); err != nil {
		t.Fatal(err)
	}
	secret := string(c.Secret())
	closeIt()

	c, closeIt = d.open(t)
	defer closeIt()
	got := c.Find(jobs)
	want := *made
	want.Attributes.DelaySeconds = 7
	if got == nil || !reflect.DeepEqual(*got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if string(c.Secret()) != secret || len(secret) != 32 {
		t.Errorf("the secret has changed or has %d bytes", len(secret))
	}
}

func TestCreatedOnce(t *testing.T) {
	c, closeIt := newDisk().open(t)
	defer closeIt()
	made, err := create(c, jobs, catalog.Attributes{}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	again, err := create(c, jobs, catalog.Attributes{DelaySeconds: 1}, nil, now)
	if !errors.Is(err, catalog.ErrExists) || !reflect.DeepEqual(again, made) {
		t.Errorf("got %+v, %v", again, err)
	}
}

func TestDeletedNameIsTakenForAMinuteAndItsIDForEver(t *testing.T) {
	d := newDisk()
	c, closeIt := d.open(t)
	made, err := create(c, jobs, catalog.Attributes{}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := remove(c, jobs, made.ID, now); err != nil {
		t.Fatal(err)
	}
	if err := remove(c, jobs, made.ID, now); !errors.Is(err, catalog.ErrNotFound) {
		t.Errorf("second delete: %v", err)
	}
	closeIt()
	c, closeIt = d.open(t) // which keeps the tombstone
	defer closeIt()
	if _, err := create(c, jobs, catalog.Attributes{}, nil, now.Add(59*time.Second)); !errors.Is(err,
		catalog.ErrDeletedRecently) {
		t.Errorf("after 59 seconds: %v", err)
	}
	next, err := create(c, jobs, catalog.Attributes{}, nil, now.Add(60*time.Second))
	if err != nil || next.ID == made.ID {
		t.Errorf("after 60 seconds: id %d after %d, %v", next.ID, made.ID, err)
	}
	if err := update(c, jobs, made.ID, func(*catalog.Queue) error { return nil }); !errors.Is(err,
		catalog.ErrNotFound) {
		t.Errorf("update of the old queue: %v", err)
	}
}

func TestRefusedUpdateChangesNothing(t *testing.T) {
	c, closeIt := newDisk().open(t)
	defer closeIt()
	made, err := create(c, jobs, catalog.Attributes{}, map[string]string{"a": "1"}, now)
	if err != nil {
		t.Fatal(err)
	}
	refusal := errors.New("no")
	err = update(c, jobs, made.ID, func(q *catalog.Queue) error {
		q.Attributes.DelaySeconds = 9
		q.Tags["a"] = "2"
		return refusal
	})
	if !errors.Is(err, refusal) {
		t.Errorf("got %v", err)
	}
	if q := c.Find(jobs); q.Attributes.DelaySeconds != 0 || q.Tags["a"] != "1" {
		t.Errorf("changed to %+v", q)
	}
}

func TestListIsSortedAndOfOneNamespace(t *testing.T) {
	c, closeIt := newDisk().open(t)
	defer closeIt()
	for _, n := range []catalog.Name{
		jobs, {Account: jobs.Account, Region: jobs.Region, Queue: "beta"},
		{Account: jobs.Account, Region: jobs.Region, Queue: "alpha"},
		{Account: jobs.Account, Region: "eu-west-1", Queue: "other"},
		{Account: "111111111111", Region: jobs.Region, Queue: "other"},
	} {
		if _, err := create(c, n, catalog.Attributes{}, nil, now); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	for _, q := range c.List(jobs.Account, jobs.Region, all) {
		names = append(names, q.Name.Queue)
	}
	if fmt.Sprint(names) != "[alpha beta jobs]" {
		t.Errorf("got %v", names)
	}
	if n := len(c.All()); n != 5 {
		t.Errorf("%d queues in all", n)
	}
}

func TestDataOfANewerProgramAreRefused(t *testing.T) {
	d := newDisk()
	s, err := store.Open("control", store.Options{FS: d.fs})
	if err != nil {
		t.Fatal(err)
	}
	tx := s.Begin()
	tx.Set([]byte("topic/x"), []byte("{}"))
	if err := s.Commit(tx); err != nil {
		t.Fatal(err)
	}
	tx.Release()
	defer s.Close()
	ctl := control.New(control.Options{Store: s})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	if _, err := catalog.Open(catalog.Options{Control: ctl, Keeps: d.keeps}); err == nil {
		t.Error("opened")
	}
}

// Records are stored in the old form, and read as they were stored.
func TestStoredForm(t *testing.T) {
	s := storetest.Memory(t)
	ctl := control.New(control.Options{Store: s})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Options{Control: ctl})
	if err != nil {
		t.Fatal(err)
	}
	made, err := create(c, jobs, catalog.Attributes{RetentionSeconds: 60}, map[string]string{"a": "b"}, now)
	if err != nil {
		t.Fatal(err)
	}
	old, err := create(c, named("old"), catalog.Attributes{}, nil, now)
	if err != nil {
		t.Fatal(err)
	}
	if err := remove(c, old.Name, old.ID, now); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		`queue/{"Account":"000000000000","Region":"us-east-1","Queue":"jobs"}`: `{"Name":{"Account":"000000000000","Region":"us-east-1","Queue":"jobs"},"ID":1,` +
			`"Created":"2026-01-01T12:00:00Z","Modified":"2026-01-01T12:00:00Z","Attributes":{"DelaySeconds":0,"MaximumMessageSize":0,` +
			`"RetentionSeconds":60,"WaitSeconds":0,"VisibilitySeconds":0,"ManagedSSE":false},"Tags":{"a":"b"}}`,
		`deleted/{"Account":"000000000000","Region":"us-east-1","Queue":"old"}`: `"2026-01-01T12:00:00Z"`,
		"last-id":        "2",
		"tombstones/0":   "[[2,2]]",
		"receipt-secret": string(c.Secret()),
	}
	got := make(map[string]string)
	if err := control.Records(s, "", func(k string, v []byte) bool { got[k] = string(v); return true }); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("stored as %q", got)
	}
	if q := c.Find(jobs); !reflect.DeepEqual(q, made) {
		t.Errorf("reads %+v, was created as %+v", q, made)
	}
}

func TestQueuesAreCountedByAccountAndFoundInAllRegions(t *testing.T) {
	d := newDisk()
	c, closeIt := d.open(t)
	name := func(account, region, queue string) catalog.Name {
		return catalog.Name{Account: account, Region: region, Queue: queue}
	}
	ids := make(map[catalog.Name]queue.ID)
	for _, n := range []catalog.Name{
		name("111111111111", "us-east-1", "jobs"), name("111111111111", "eu-west-1", "jobs"),
		name("111111111111", "eu-west-1", "mail"),
		name("222222222222", "ap-south-1", "jobs"),
	} {
		q, err := create(c, n, catalog.Attributes{}, nil, now)
		if err != nil {
			t.Fatal(err)
		}
		ids[n] = q.ID
	}
	check := func(when string, first, second int, regions ...string) {
		t.Helper()
		if got := c.Count("111111111111"); got != first {
			t.Errorf("%s: the first account has %d queues, want %d", when, got, first)
		}
		if got := c.Count("222222222222"); got != second {
			t.Errorf("%s: the second account has %d queues, want %d", when, got, second)
		}
		if got := c.Regions("111111111111", "jobs"); fmt.Sprint(got) != fmt.Sprint(regions) {
			t.Errorf("%s: jobs is in %v, want %v", when, got, regions)
		}
	}
	check("when made", 3, 1, "eu-west-1", "us-east-1")
	changed := name("111111111111", "us-east-1", "jobs")
	if err := update(c, changed, ids[changed],
		func(q *catalog.Queue) error { q.Attributes.DelaySeconds = 1; return nil }); err != nil {
		t.Fatal(err)
	}
	check("after a change", 3, 1, "eu-west-1", "us-east-1")
	for _, n := range []catalog.Name{name("111111111111", "eu-west-1", "jobs"),
		name("222222222222", "ap-south-1", "jobs")} {
		if err := remove(c, n, ids[n], now); err != nil {
			t.Fatal(err)
		}
	}
	check("after deletions", 2, 0, "us-east-1")
	closeIt()
	c, closeIt = d.open(t)
	defer closeIt()
	check("when opened again", 2, 0, "us-east-1")
}
