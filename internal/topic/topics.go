package topic

import (
	"errors"
	"maps"
	"math"
	"slices"
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

// Page returns the first topics of an account in a region, sorted by name, whose names follow after. It returns at most
// most of them, and reads no others.
func (t *Topics) Page(account, region, after string, most int) (out []*Topic) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	for of := range r.order.from(Name{account, region, after}) {
		if len(out) == most || of.Name.Account != account || of.Name.Region != region {
			break
		}
		if of.Name.Topic != after {
			out = append(out, of)
		}
	}
	return out
}

// Where returns the topics of all accounts for which keep returns true, in any order.
func (t *Topics) Where(keep func(*Topic) bool) []*Topic {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return control.Where(r.topics, keep)
}

// Count returns the number of topics of an account in all regions, and how many of them are FIFO topics.
func (t *Topics) Count(account string) (all, fifo int) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	h := r.tallies.of(account)
	return h.topics, h.fifo
}

// CountSubscriptions returns the number of subscriptions that an account owns in all regions. It includes those that
// wait to be confirmed, and excludes those that have ended.
func (t *Topics) CountSubscriptions(account string) int {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.tallies.of(account).subscriptions
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
func (t *Topics) Owned(account string) (out []string) {
	r := t.records.RLock()
	for of := range r.order.from(Name{Account: account}) {
		if of.Name.Account != account {
			break
		}
		out = append(out, of.Name.Topic+" in "+of.Name.Region)
	}
	t.records.RUnlock()
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
	r := t.records.RLock()
	defer t.records.RUnlock()
	return slices.Collect(r.order.ended.Range(&Subscription{Topic: n}, func(s *Subscription) bool {
		return s.Topic == n
	}))
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
	return t.SubscriptionsPage(account, region, "", math.MaxInt)
}

// SubscriptionsPage returns the first of the subscriptions that SubscriptionsOf returns whose ARNs follow after, at
// most most. It reads no others.
func (t *Topics) SubscriptionsPage(account, region, after string, most int) (out []*Subscription) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	for s := range r.order.owned.From(&Subscription{Owner: account, Topic: Name{Region: region}, arn: after}) {
		if len(out) == most || s.Owner != account || s.Topic.Region != region {
			break
		}
		if s.arn != after {
			out = append(out, s)
		}
	}
	return out
}

// Filters returns the number of subscriptions of an account, to topics of a region, that have a filter policy.
func (t *Topics) Filters(account, region string) int {
	r := t.records.RLock()
	defer t.records.RUnlock()
	return r.tallies.of(account).filters[region]
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
