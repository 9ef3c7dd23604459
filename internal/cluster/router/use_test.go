package router_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/proof/eventually"
	"github.com/sluicemq/sluice/internal/queue"
)

// The use of a queue is the sum over its shards, wherever their owners are. There is no answer for a queue if one of
// its shards has none.
func TestUses(t *testing.T) {
	t.Parallel()
	c := newCluster(t, 5, "a", "b")
	a, b := c.router("a"), c.router("b")
	uses := func() map[queue.ID]queue.Use {
		t.Helper()
		list, err := b.Uses(t.Context(), []queue.ID{single, wide, groups, absent})
		if err != nil {
			t.Fatal(err)
		}
		out := make(map[queue.ID]queue.Use)
		for _, u := range list {
			out[u.ID] = u
		}
		return out
	}
	c.pass(48 * time.Hour)
	for range 3 {
		send(t, a, wide, "m", "m")
	}
	got := uses()
	if len(got) != 3 || got[wide].Messages != 6 || got[single].Messages != 0 || got[wide].Sealed {
		t.Errorf("%+v", got)
	}
	if old := c.now().Add(-40 * time.Hour); got[single].Last > old || got[groups].Last > old ||
		got[wide].Last < c.now().Add(-time.Minute) {
		t.Errorf("at %v: %+v", c.now(), got)
	}
	// A client that reads attributes, which this node knows, has still used the queue.
	a.Used(single)
	eventually.Succeeds(t, func() error {
		if last := uses()[single].Last; last < c.now().Add(-time.Minute) {
			return fmt.Errorf("last used %v", last)
		}
		return nil
	})
	c.take(2)
	if got := uses(); len(got) != 0 {
		t.Errorf("a shard without owner reports %+v", got)
	}
	c.give(2, "a")
	if got := uses(); len(got) != 3 {
		t.Errorf("%+v", got)
	}
	// One shard that does not know of the seal is enough for the queue not to be sealed.
	seal := func(shards ...int) {
		for _, n := range shards {
			for _, cfg := range c.configs(n) {
				if cfg.ID == wide {
					cfg.Sealed = true
					if err := c.shards[n].shard.Configure(t.Context(), cfg); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	if seal(1, 3, 4, 5); uses()[wide].Sealed {
		t.Error("it is sealed on four of five shards")
	}
	if seal(2); !uses()[wide].Sealed {
		t.Error("it is sealed on all shards")
	}
}
