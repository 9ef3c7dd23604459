package topic

import (
	"cmp"
	"iter"
	"strings"

	"github.com/sluicemq/sluice/internal/tool/sortedlist"
)

// order has records in the orders in which requests read them, so that no account pays for the records of others.
type order struct {
	topics *sortedlist.List[*Topic]        // by name
	owned  *sortedlist.List[*Subscription] // by owner, region and ARN; without those that have ended
	ended  *sortedlist.List[*Subscription] // those that have ended, by topic and id
}

func newOrder() order {
	return order{
		topics: sortedlist.New(func(a, b *Topic) int { return a.Name.compare(b.Name) }),
		owned:  sortedlist.New(byOwner),
		ended:  sortedlist.New(func(a, b *Subscription) int { return cmp.Or(a.Topic.compare(b.Topic), byID(a, b)) }),
	}
}

func byOwner(a, b *Subscription) int {
	return cmp.Or(
		strings.Compare(a.Owner, b.Owner), strings.Compare(a.Topic.Region, b.Topic.Region),
		strings.Compare(a.arn, b.arn),
	)
}

// compare orders names by account, then by region.
func (n Name) compare(o Name) int {
	return cmp.Or(
		strings.Compare(n.Account, o.Account), strings.Compare(n.Region, o.Region), strings.Compare(n.Topic, o.Topic),
	)
}

// from yields the topics from a name on.
func (o *order) from(n Name) iter.Seq[*Topic] { return o.topics.From(&Topic{Name: n}) }

// put keeps a subscription in its place.
func (o *order) put(_ string, old, is *Subscription) error {
	if old != nil {
		o.of(old).Delete(old)
	}
	if is != nil {
		o.of(is).Put(is)
	}
	return nil
}

// of returns the list in which a subscription is.
func (o *order) of(s *Subscription) *sortedlist.List[*Subscription] {
	if s.Ending != nil {
		return o.ended
	}
	return o.owned
}
