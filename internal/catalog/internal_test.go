package catalog_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// nothing reads records and keeps none.
type nothing struct{}

func (nothing) Load(iter.Seq2[string, []byte]) error { return nil }
func (nothing) Apply([]control.Change) error         { return nil }

// An internal queue is created with the record to which it belongs. Shards serve it, and no account has it.
func TestInternalQueues(t *testing.T) {
	s, err := store.Open("control", store.Options{FS: vfs.NewMem()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ctl := control.New(control.Options{Store: s})
	if err := ctl.Change(t.Context(), catalog.Initialise); err != nil {
		t.Fatal(err)
	}
	if err := ctl.Register("sns/", nothing{}); err != nil {
		t.Fatal(err)
	}
	c, err := catalog.Open(catalog.Options{Control: ctl})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := create(c, jobs, catalog.Attributes{}, nil, now); err != nil {
		t.Fatal(err)
	}
	names := []catalog.Name{catalog.TopicQueue("1"), catalog.SubscriptionQueue("1"), catalog.SubscriptionQueue("2")}
	for i, n := range names {
		err := ctl.Change(t.Context(), func(tx *control.Tx) error {
			tx.Put("sns/"+fmt.Sprint(i), []byte("{}"))
			_, err := c.In(tx).Create(n, catalog.Attributes{FIFO: i == 0}, nil, now)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := errors.New("no")
	err = ctl.Change(t.Context(), func(tx *control.Tx) error {
		_, err := c.In(tx).Create(catalog.TopicQueue("9"), catalog.Attributes{}, nil, now)
		return errors.Join(refused, err)
	})
	if !errors.Is(err, refused) || c.Find(catalog.TopicQueue("9")) != nil {
		t.Errorf("a refused change: %v", err)
	}
	if got := c.All(); len(got) != 1 || got[0].Name != jobs {
		t.Errorf("of accounts: %v", got)
	}
	if n := c.Count(jobs.Account); n != 1 {
		t.Errorf("the account has %d queues", n)
	}
	for _, n := range names {
		q := c.Find(n)
		if q == nil || c.ByID(q.ID) != q || !n.Internal() || jobs.Internal() {
			t.Fatalf("%v: %+v", n, q)
		}
	}
	served := 0
	for _, cfg := range c.Configs(1) {
		if !cfg.Elsewhere && cfg.Internal {
			served++
		}
	}
	if served != len(names) {
		t.Errorf("%d internal queues are served", served)
	}
	err = c.Change(t.Context(), func(tx *catalog.Tx) error { // of several in one change
		return errors.Join(tx.Delete(names[0], c.Find(names[0]).ID, now), tx.Delete(names[1], c.Find(names[1]).ID, now))
	})
	if err != nil || c.Find(names[0]) != nil || c.Find(names[1]) != nil || c.Find(names[2]) == nil {
		t.Errorf("deleted: %v", err)
	}
	var keys []string
	if err := control.Records(s, "deleted/",
		func(k string, _ []byte) bool { keys = append(keys, k); return true }); err != nil || keys != nil {
		t.Errorf("remembers %v, %v", keys, err)
	}
	listed, problems, err := catalog.Check(s, "sns/")
	all := listed.Queues
	if len(all) != 2 || problems != nil || err != nil {
		t.Errorf("check: %v, %v, %v", all, problems, err)
	}
	if !slices.ContainsFunc(all, func(q *catalog.Queue) bool { return q.Name == names[2] }) {
		t.Errorf("check omits the internal queue: %v", all)
	}
}
