package catalog

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// unstored returns a catalog without a store, to which changes are applied.
func unstored() *Catalog {
	return &Catalog{records: control.NewSet(control.SetOptions[records]{New: recordsOf(false)})}
}

func (c *Catalog) put(t testing.TB, q *Queue) {
	c.apply(t, control.Change{Key: queueTable.KeyOf(q.Name), Value: control.Encode(q)})
}

func (c *Catalog) apply(t testing.TB, ch control.Change) {
	if err := c.records.Apply([]control.Change{ch}); err != nil {
		t.Fatal(err)
	}
}

// randomly puts or deletes a queue of a few accounts and regions. Some queues have dead-letter queues.
func (c *Catalog) randomly(t *testing.T, rng *rand.Rand, id int) {
	n := Name{fmt.Sprint("account", rng.IntN(4)), fmt.Sprint("region", rng.IntN(3)), fmt.Sprint("q", rng.IntN(40))}
	if rng.IntN(3) == 0 {
		c.apply(t, control.Change{Key: queueTable.KeyOf(n), Removed: true})
		return
	}
	q := &Queue{Name: n, ID: queue.ID(id)}
	if rng.IntN(2) == 0 {
		to := n
		to.Queue = fmt.Sprint("q", rng.IntN(5))
		q.Attributes.Redrive = &Redrive{Target: to.ARN()}
	}
	c.put(t, q)
}

// where returns the queues for which keep returns true, sorted by name, as a scan of all queues finds them.
func (c *Catalog) where(keep func(*Queue) bool) []*Queue {
	out := control.Where(c.records.RLock().queues, keep)
	c.records.RUnlock()
	slices.SortFunc(out, byName)
	return out
}

// The lists have what a scan of all queues finds, in its order.
func TestListsEqualScans(t *testing.T) {
	rng, c := rand.New(rand.NewPCG(1, 2)), unstored()
	for i := range 1000 {
		c.randomly(t, rng, i)
		of := Name{fmt.Sprint("account", rng.IntN(5)), fmt.Sprint("region", rng.IntN(4)), fmt.Sprint("q", rng.IntN(5))}
		in := func(q *Queue) bool { return q.Name.namespace() == of.namespace() }
		owned := c.where(func(q *Queue) bool { return q.Name.Account == of.Account })
		equal(t, "List", c.List(of.Account, of.Region, func(*Queue) bool { return true }), c.where(in))
		equal(t, "Sources", c.Sources(&Queue{Name: of}), c.where(func(q *Queue) bool {
			return in(q) && q.Attributes.Redrive != nil && q.Attributes.Redrive.Target == of.ARN()
		}))
		if got := c.Count(of.Account); got != len(owned) || len(c.Owned(of.Account)) != got {
			t.Fatalf("account %s has %d queues, Count returns %d", of.Account, len(owned), got)
		}
		var regions []string
		for _, q := range owned {
			if q.Name.Queue == of.Queue {
				regions = append(regions, q.Name.Region)
			}
		}
		if got := c.Regions(of.Account, of.Queue); !slices.Equal(got, regions) {
			t.Fatalf("queues %s are in %v, Regions returns %v", of.Queue, regions, got)
		}
	}
}

// A page has the next queues of a list, no matter whether the queue that it follows still exists.
func TestPagesFollowEachOther(t *testing.T) {
	rng, c := rand.New(rand.NewPCG(1, 2)), unstored()
	for i := range 1000 {
		c.randomly(t, rng, i)
		of := Name{fmt.Sprint("account", rng.IntN(4)), fmt.Sprint("region", rng.IntN(3)), fmt.Sprint("q", rng.IntN(5))}
		prefix, after, most := fmt.Sprint("q", rng.IntN(5))[:rng.IntN(3)], fmt.Sprint("q", rng.IntN(50)), rng.IntN(8)
		want := c.where(func(q *Queue) bool {
			n := q.Name
			return n.namespace() == of.namespace() && strings.HasPrefix(n.Queue, prefix) && n.Queue > after
		})
		equal(t, "Page", c.Page(of.Account, of.Region, prefix, after, most), want[:min(most, len(want))])
		want = slices.DeleteFunc(c.Sources(&Queue{Name: of}), func(q *Queue) bool { return q.Name.Queue <= after })
		equal(t, "SourcesPage", c.SourcesPage(&Queue{Name: of}, after, most), want[:min(most, len(want))])
	}
}

func equal(t *testing.T, what string, got, want []*Queue) {
	t.Helper()
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("%s returns %d queues, want %d", what, len(got), len(want))
	}
}

// mine is the account that lists its queues; others have many more.
const mine = "500000000000"

func crowded(t testing.TB, others, own int) *Catalog {
	c := unstored()
	for i := range others + own {
		n := Name{fmt.Sprintf("%012d", 100*i), "us-east-1", fmt.Sprintf("queue-%07d", i)}
		if i >= others {
			n.Account = mine
		}
		target := n
		target.Queue = "failed"
		c.put(t, &Queue{
			Name: n, ID: queue.ID(i + 1), Created: time.Unix(0, 0), Modified: time.Unix(0, 0),
			Attributes: Attributes{Redrive: &Redrive{Target: target.ARN(), MaxReceiveCount: 3}},
		})
	}
	return c
}

// A list compares the records that it returns and a few others, however many others there are.
func TestListsReadOnlyTheirAccount(t *testing.T) {
	const others, own = 5000, 5
	c, compared := crowded(t, others, own), 0
	counting := func(list **sortedlist.List[*Queue], order func(a, b *Queue) int) {
		copied := sortedlist.New(func(a, b *Queue) int {
			compared++
			return order(a, b)
		})
		for q := range (*list).From(&Queue{Attributes: Attributes{Redrive: new(Redrive)}}) {
			copied.Put(q)
		}
		*list = copied
	}
	r := c.records.Lock()
	counting(&r.order.queues, byName)
	counting(&r.order.sources, byTarget)
	r.queues = nil // the lists do not need it
	c.records.Unlock()
	for what, list := range map[string]func() int{
		"List":    func() int { return len(c.List(mine, "us-east-1", func(*Queue) bool { return true })) },
		"Page":    func() int { return len(c.Page(mine, "us-east-1", "queue", "", 100)) },
		"Sources": func() int { return len(c.Sources(&Queue{Name: Name{mine, "us-east-1", "failed"}})) },
		"Owned":   func() int { return len(c.Owned(mine)) },
		"Count":   func() int { return c.Count(mine) },
	} {
		compared = 0
		if n := list(); n != own || compared > 20 {
			t.Errorf("%s found %d queues after %d comparisons", what, n, compared)
		}
	}
}

func BenchmarkListBesideMany(b *testing.B) {
	c := crowded(b, 100_000, 10)
	for b.Loop() {
		c.List(mine, "us-east-1", func(*Queue) bool { return true })
	}
}

func BenchmarkSourcesBesideMany(b *testing.B) {
	c := crowded(b, 100_000, 10)
	for b.Loop() {
		c.Sources(&Queue{Name: Name{mine, "us-east-1", "failed"}})
	}
}

func BenchmarkPageOfMany(b *testing.B) {
	c := crowded(b, 0, 100_000)
	for b.Loop() {
		c.Page(mine, "us-east-1", "queue", "queue-0050000", 100)
	}
}

// BenchmarkRecord reports the memory of a queue's record with its places in the indexes.
func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		const queues = 100_000
		before := heapInUse()
		c := crowded(b, queues, 0)
		b.ReportMetric(float64(heapInUse()-before)/queues, "B/queue")
		runtime.KeepAlive(c)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
