package topic

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
)

// The errors with which a change is refused.
var (
	ErrNoTopic        = errors.New("no such topic")
	ErrNoSubscription = errors.New("no such subscription")
)

// Options configure Topics.
type Options struct {
	Control *control.Control
	Formats control.Formats
	// Prepare is called in the change that creates a topic, to create what every topic needs. It may be nil.
	Prepare func(*control.Tx, time.Time) error
}

// Topics is the set of records. Its methods may be called from any goroutine.
type Topics struct {
	records *control.Set[records]
	queues  *catalog.Catalog
	prepare func(*control.Tx, time.Time) error
}

// Open reads the records from the control store and follows their changes. Call Use before the first change.
func Open(o Options) (*Topics, error) {
	t := &Topics{prepare: o.Prepare}
	if t.prepare == nil {
		t.prepare = func(*control.Tx, time.Time) error { return nil }
	}
	t.records = control.NewSet(control.SetOptions[records]{
		Control: o.Control, Prefix: Prefix, Formats: o.Formats, New: newRecords,
	})
	if err := t.records.Register(); err != nil {
		return nil, err
	}
	return t, nil
}

// Use sets the catalog in which internal queues are created and deleted. The catalog is opened last, so it cannot be an
// option of Open.
func (t *Topics) Use(queues *catalog.Catalog) { t.queues = queues }

// Find returns a topic, or nil.
func (t *Topics) Find(n Name) *Topic {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.topics[n]
}

// Subscribed returns a topic with its subscriptions, sorted by id, or nil. The slice must not be changed.
func (t *Topics) Subscribed(n Name) (*Topic, []*Subscription) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	topic := r.topics[n]
	if topic == nil {
		return nil, nil
	}
	if e := r.entries[n]; e != nil {
		return topic, e.subscriptions
	}
	return topic, nil
}

// List returns the topics of an account in a region, sorted by name.
func (t *Topics) List(account, region string) []*Topic {
	out := t.Where(func(t *Topic) bool { return t.Name.Account == account && t.Name.Region == region })
	slices.SortFunc(out, func(a, b *Topic) int { return strings.Compare(a.Name.Topic, b.Name.Topic) })
	return out
}

// Where returns the topics of all accounts for which keep returns true, in any order.
func (t *Topics) Where(keep func(*Topic) bool) []*Topic {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return control.Where(r.topics, keep)
}

// Count returns the number of topics of an account in all regions for which keep returns true.
func (t *Topics) Count(account string, keep func(*Topic) bool) int {
	r := t.records.RLock()
	defer t.records.RUnlock()
	n := 0
	for name, topic := range r.topics {
		if name.Account == account && keep(topic) {
			n++
		}
	}
	return n
}

// CountSubscriptions returns the number of subscriptions that an account owns in all regions. It includes those that
// wait to be confirmed, and excludes those that have ended.
func (t *Topics) CountSubscriptions(account string) int {
	r := t.records.RLock()
	defer t.records.RUnlock()
	n := 0
	for s := range r.live() {
		if s.Owner == account {
			n++
		}
	}
	return n
}

// Subscribing returns the ARNs of the subscriptions that an account owns in all regions, sorted.
func (t *Topics) Subscribing(account string) []string {
	r := t.records.RLock()
	defer t.records.RUnlock()
	var out []string
	for s := range r.live() {
		if s.Owner == account {
			out = append(out, s.ARN())
		}
	}
	slices.Sort(out)
	return out
}

// Owned returns the names of an account's topics in all regions, sorted.
func (t *Topics) Owned(account string) []string {
	r := t.records.RLock()
	defer t.records.RUnlock()
	var out []string
	for n := range r.topics {
		if n.Account == account {
			out = append(out, n.Topic+" in "+n.Region)
		}
	}
	slices.Sort(out)
	return out
}

// Subscription returns the subscription with that id, or nil.
func (t *Topics) Subscription(id string) *Subscription {
	r := t.records.RLock()
	defer t.records.RUnlock()
	if s := r.subscriptions[id]; s != nil && s.Ending == nil {
		return s
	}
	return nil
}

// Ended returns the subscription with that id that has ended and can be restored, or nil.
func (t *Topics) Ended(id string) *Subscription {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.ended[id]
}

// AllEnded returns the subscriptions that have ended and can be restored, sorted by id.
func (t *Topics) AllEnded() []*Subscription {
	r := t.records.RLock()
	out := slices.Collect(maps.Values(r.ended))
	t.records.RUnlock()
	slices.SortFunc(out, byID)
	return out
}

// endedOf returns those of AllEnded that belong to a topic.
func (t *Topics) endedOf(n Name) []*Subscription {
	return slices.DeleteFunc(t.AllEnded(), func(s *Subscription) bool { return s.Topic != n })
}

// Fed returns the subscription that an internal queue belongs to, or nil. The subscription may have ended.
func (t *Topics) Fed(id queue.ID) *Subscription {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.fed[id]
}

// NeededQueues returns the ARNs of the queues that get messages of topics, as an endpoint or as a dead-letter queue.
func (t *Topics) NeededQueues() map[string]bool {
	r := t.records.RLock()
	defer t.records.RUnlock()
	out := make(map[string]bool)
	for s := range r.live() {
		if s.Protocol == SQS {
			out[s.Endpoint] = true
		}
		if s.Attributes.Redrive != "" {
			out[s.Attributes.Redrive] = true
		}
	}
	return out
}

// DeadLetterQueues returns the ARNs of the dead-letter queues of subscriptions.
func (t *Topics) DeadLetterQueues() map[string]bool {
	r := t.records.RLock()
	defer t.records.RUnlock()
	out := make(map[string]bool)
	for s := range r.live() {
		if s.Attributes.Redrive != "" {
			out[s.Attributes.Redrive] = true
		}
	}
	return out
}

// SubscriptionsOf returns the subscriptions that an account owns to topics of a region, sorted by ARN.
func (t *Topics) SubscriptionsOf(account, region string) []*Subscription {
	r := t.records.RLock()
	out := control.Where(r.subscriptions, func(s *Subscription) bool {
		return s.Ending == nil && s.Owner == account && s.Topic.Region == region
	})
	t.records.RUnlock()
	slices.SortFunc(out, func(a, b *Subscription) int { return strings.Compare(a.ARN(), b.ARN()) })
	return out
}

// Filters returns the number of subscriptions of an account, to topics of a region, that have a filter policy.
func (t *Topics) Filters(account, region string) (n int) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	for s := range r.live() {
		if s.Owner == account && s.Topic.Region == region && s.Attributes.Filter != "" {
			n++
		}
	}
	return n
}

// To returns the subscription of a topic to an endpoint, or nil.
func (t *Topics) To(n Name, p Protocol, address string) *Subscription {
	r := t.records.RLock()
	defer t.records.RUnlock()
	if e := r.entries[n]; e != nil {
		return e.endpoints[endpoint{p, address}]
	}
	return nil
}

// Len returns the numbers of topics and subscriptions.
func (t *Topics) Len() (topics, subscriptions int) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return len(r.topics), len(r.subscriptions) - len(r.ended)
}
