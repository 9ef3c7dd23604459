package topic

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// unstored returns topics without a store, to which changes are applied.
func unstored() *Topics {
	return &Topics{records: control.NewSet(control.SetOptions[records]{New: newRecords})}
}

func (t *Topics) apply(tb testing.TB, key string, is any) {
	ch := control.Change{Key: key, Removed: is == nil}
	if is != nil {
		ch.Value = control.Encode(is)
	}
	if err := t.records.Apply([]control.Change{ch}); err != nil {
		tb.Fatal(err)
	}
}

// randomly puts or deletes a topic and a subscription of a few accounts and regions.
func (t *Topics) randomly(tb testing.TB, rng *rand.Rand) {
	n := Name{fmt.Sprint("account", rng.IntN(3)), fmt.Sprint("region", rng.IntN(3)), fmt.Sprint("t", rng.IntN(9))}
	if rng.IntN(2) == 0 {
		n.Topic += FIFOSuffix
	}
	s := Subscription{ID: fmt.Sprint("s", rng.IntN(200)), Topic: n, Owner: fmt.Sprint("account", rng.IntN(3))}
	switch rng.IntN(5) {
	case 0:
		s.Ending = &Ending{At: time.Unix(0, 0)}
	case 1:
		s.Attributes.Filter = `{"a":["b"]}`
	}
	if rng.IntN(3) == 0 {
		t.apply(tb, topicTable.KeyOf(n), nil)
		t.apply(tb, subsTable.KeyOf(s.ID), nil)
		return
	}
	t.apply(tb, topicTable.KeyOf(n), Topic{Name: n})
	t.apply(tb, subsTable.KeyOf(s.ID), s)
}

// The lists have what a scan of all records finds, in its order.
func TestListsEqualScans(t *testing.T) {
	rng, all := rand.New(rand.NewPCG(1, 2)), unstored()
	for range 800 {
		all.randomly(t, rng)
		account, region := fmt.Sprint("account", rng.IntN(4)), fmt.Sprint("region", rng.IntN(4))
		all.checkTopics(t, account, region, fmt.Sprint("t", rng.IntN(9)), rng.IntN(8))
		all.checkSubscriptions(t, account, region, rng.IntN(8))
	}
}

func (t *Topics) checkTopics(tb testing.TB, account, region, after string, most int) {
	owned := t.Where(func(of *Topic) bool { return of.Name.Account == account })
	slices.SortFunc(owned, func(a, b *Topic) int { return a.Name.compare(b.Name) })
	n, fifo := t.Count(account)
	if n != len(owned) || len(t.Owned(account)) != n {
		tb.Fatalf("account %s has %d topics, Count returns %d", account, len(owned), n)
	}
	for _, of := range owned {
		if of.Name.FIFO() {
			fifo--
		}
	}
	if fifo != 0 {
		tb.Fatalf("Count returns %d FIFO topics too many", fifo)
	}
	want := slices.DeleteFunc(owned, func(of *Topic) bool { return of.Name.Region != region || of.Name.Topic <= after })
	if got := t.Page(account, region, after, most); !slices.Equal(got, want[:min(most, len(want))]) {
		tb.Fatalf("a page has %d topics of %d", len(got), len(want))
	}
}

func (t *Topics) checkSubscriptions(tb testing.TB, account, region string, most int) {
	r := t.records.RLock()
	all := slices.Collect(maps.Values(r.subscriptions))
	owned := slices.DeleteFunc(slices.Collect(r.live()), func(s *Subscription) bool { return s.Owner != account })
	t.records.RUnlock()
	if n := t.CountSubscriptions(account); n != len(owned) {
		tb.Fatalf("account %s owns %d subscriptions, CountSubscriptions returns %d", account, len(owned), n)
	}
	slices.SortFunc(owned, func(a, b *Subscription) int { return strings.Compare(a.ARN(), b.ARN()) })
	owned = slices.DeleteFunc(owned, func(s *Subscription) bool { return s.Topic.Region != region })
	if got := t.SubscriptionsOf(account, region); !slices.Equal(got, owned) {
		tb.Fatalf("SubscriptionsOf returns %d subscriptions, want %d", len(got), len(owned))
	}
	if n := min(most, len(owned)); n > 0 {
		after := owned[n-1].ARN()
		want := owned[n:min(n+most, len(owned))]
		if got := t.SubscriptionsPage(account, region, after, most); !slices.Equal(got, want) {
			tb.Fatalf("the page after %s has %d subscriptions, want %d", after, len(got), len(want))
		}
	}
	ended := slices.DeleteFunc(all, func(s *Subscription) bool { return s.Ending == nil || s.Topic.Account != account })
	filtered := slices.DeleteFunc(owned, func(s *Subscription) bool { return s.Attributes.Filter == "" })
	if n := t.Filters(account, region); n != len(filtered) || t.ended(account) != len(ended) {
		tb.Fatalf("Filters returns %d of %d, endedOf %d of %d", n, len(filtered), t.ended(account), len(ended))
	}
}

// ended counts the ended subscriptions to the topics of an account.
func (t *Topics) ended(account string) (n int) {
	for i := range 3 * 9 * 2 {
		name := Name{account, fmt.Sprint("region", i/18), fmt.Sprint("t", i/2%9)}
		if i%2 == 0 {
			name.Topic += FIFOSuffix
		}
		n += len(t.endedOf(name))
	}
	return n
}

// mine is the account that lists its records; others have many more.
const mine = "500000000000"

func crowded(tb testing.TB, others, own int) *Topics {
	all := unstored()
	for i := range others + own {
		n := Name{fmt.Sprintf("%012d", 100*i), "us-east-1", fmt.Sprintf("topic-%07d", i)}
		if i >= others {
			n.Account = mine
		}
		all.apply(tb, topicTable.KeyOf(n), Topic{Name: n})
		s := Subscription{ID: fmt.Sprintf("%036d", i*7919%(others+own)), Topic: n, Owner: n.Account, Protocol: SQS}
		all.apply(tb, subsTable.KeyOf(s.ID), s)
	}
	return all
}

// A list compares the records that it returns and a few others, however many others there are.
func TestListsReadOnlyTheirAccount(t *testing.T) {
	const others, own = 5000, 5
	all, compared := crowded(t, others, own), 0
	r := all.records.Lock()
	r.order.topics = counting(r.order.topics, new(Topic), &compared, func(a, b *Topic) int {
		return a.Name.compare(b.Name)
	})
	r.order.owned = counting(r.order.owned, new(Subscription), &compared, byOwner)
	r.topics, r.subscriptions = nil, nil // the lists do not need them
	all.records.Unlock()
	for what, list := range map[string]func() int{
		"Page":               func() int { return len(all.Page(mine, "us-east-1", "", 100)) },
		"Owned":              func() int { return len(all.Owned(mine)) },
		"Count":              func() int { n, _ := all.Count(mine); return n },
		"SubscriptionsOf":    func() int { return len(all.SubscriptionsOf(mine, "us-east-1")) },
		"CountSubscriptions": func() int { return all.CountSubscriptions(mine) },
	} {
		compared = 0
		if n := list(); n != own || compared > 20 {
			t.Errorf("%s found %d records after %d comparisons", what, n, compared)
		}
	}
}

// counting returns a list that counts the comparisons of its elements.
func counting[T any](list *sortedlist.List[T], first T, n *int, order func(a, b T) int) *sortedlist.List[T] {
	copied := sortedlist.New(func(a, b T) int {
		*n++
		return order(a, b)
	})
	for x := range list.From(first) {
		copied.Put(x)
	}
	return copied
}

func BenchmarkTopicsBesideMany(b *testing.B) {
	all := crowded(b, 100_000, 10)
	for b.Loop() {
		all.Page(mine, "us-east-1", "", 100)
	}
}

func BenchmarkSubscriptionsBesideMany(b *testing.B) {
	all := crowded(b, 100_000, 10)
	for b.Loop() {
		all.SubscriptionsOf(mine, "us-east-1")
	}
}

func BenchmarkPageOfManySubscriptions(b *testing.B) {
	all := crowded(b, 0, 100_000)
	after := "arn:aws:sns:us-east-1:" + mine + ":topic-0050000"
	for b.Loop() {
		all.SubscriptionsPage(mine, "us-east-1", after, 100)
	}
}

// BenchmarkRecord reports the memory of a topic and its subscription with their places in the indexes.
func BenchmarkRecord(b *testing.B) {
	for b.Loop() {
		const topics = 100_000
		before := heapInUse()
		all := crowded(b, topics, 0)
		b.ReportMetric(float64(heapInUse()-before)/topics, "B/topic")
		runtime.KeepAlive(all)
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
