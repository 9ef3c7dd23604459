package catalog

import (
	"cmp"
	"iter"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// order has records in the orders in which requests read them, so that no account pays for the records of others.
type order struct {
	queues  *sortedlist.List[*Queue] // by name; without internal queues
	sources *sortedlist.List[*Queue] // those with a dead-letter queue, by its ARN and then by their names
	shelf   *sortedlist.List[*Queue] // deleted queues, by account and then in the order of their deletion
	deleted *sortedlist.List[deletion]
}

// deletion is when the queue of a name was deleted. Deletions are in the order of their times.
type deletion struct {
	at   time.Time
	name Name
}

func newOrder() order {
	return order{
		queues: sortedlist.New(byName), sources: sortedlist.New(byTarget), shelf: sortedlist.New(byDeletion),
		deleted: sortedlist.New(func(a, b deletion) int {
			return cmp.Or(a.at.Compare(b.at), a.name.compare(b.name))
		}),
	}
}

func byName(a, b *Queue) int { return a.Name.compare(b.Name) }

func byTarget(a, b *Queue) int {
	return cmp.Or(strings.Compare(a.Attributes.Redrive.Target, b.Attributes.Redrive.Target), byName(a, b))
}

func byDeletion(a, b *Queue) int {
	return cmp.Or(
		strings.Compare(a.Name.Account, b.Name.Account), a.Deleted.Compare(b.Deleted), cmp.Compare(a.ID, b.ID),
	)
}

// compare orders names by account, then by region.
func (n Name) compare(o Name) int {
	return cmp.Or(
		strings.Compare(n.Account, o.Account), strings.Compare(n.Region, o.Region), strings.Compare(n.Queue, o.Queue),
	)
}

// put keeps a queue in its places.
func (o *order) put(n Name, old, is *Queue) error {
	if n.Internal() {
		return nil
	}
	if old != nil {
		o.queues.Delete(old)
		if old.Attributes.Redrive != nil {
			o.sources.Delete(old)
		}
	}
	if is != nil {
		o.queues.Put(is)
		if is.Attributes.Redrive != nil {
			o.sources.Put(is)
		}
	}
	return nil
}

func (o *order) putDeleted(n Name, old, is *time.Time) error {
	if old != nil {
		o.deleted.Delete(deletion{*old, n})
	}
	if is != nil {
		o.deleted.Put(deletion{*is, n})
	}
	return nil
}

// from yields the queues from a name on.
func (o *order) from(n Name) iter.Seq[*Queue] { return o.queues.From(&Queue{Name: n}) }

// sourcesFrom yields the queues of a namespace whose dead-letter queue q is, from a name on.
func (o *order) sourcesFrom(q *Queue, name string) iter.Seq[*Queue] {
	n, target := q.Name, q.Name.ARN()
	n.Queue = name
	return func(yield func(*Queue) bool) {
		for of := range o.sources.From(&Queue{Name: n, Attributes: Attributes{Redrive: &Redrive{Target: target}}}) {
			if of.Attributes.Redrive.Target != target || of.Name.namespace() != n.namespace() || !yield(of) {
				return
			}
		}
	}
}

// regions yields the regions in which an account has queues. It reads one queue of each.
func (o *order) regions(account string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for region, more := o.region(account, ""); more; region, more = o.region(account, region+"\x00") {
			if !yield(region) {
				return
			}
		}
	}
}

// region returns the first region, from one on, in which an account has queues.
func (o *order) region(account, from string) (string, bool) {
	for q := range o.from(Name{account, from, ""}) {
		return q.Name.Region, q.Name.Account == account
	}
	return "", false
}
