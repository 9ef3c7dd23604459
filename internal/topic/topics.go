package topic

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

// Options are what Topics are made of.
type Options struct {
	Control *control.Control
	// Ready is called before the first record is written. Its error says that some program which reads the control store
	// does not know of topics. A nil Ready means that all do.
	Ready func() error
	// Require is called before the first record is written, and when one is first read here. It writes down that the data
	// directory needs a program that knows of topics. It may be nil.
	Require func() error
	// Prepare is called in the change that makes a topic, so that there is what every topic needs. It may be nil.
	Prepare func(*control.Tx, time.Time) error
}

// Topics is the set of records. Its methods may be called from any goroutine.
type Topics struct {
	control *control.Control
	queues  *catalog.Catalog
	ready   func() error
	require func() error
	prepare func(*control.Tx, time.Time) error

	required atomic.Bool // Require was called, and had no error

	mu sync.RWMutex
	records
}

// records are the contents of the store.
type records struct {
	topics        map[Name]*entry
	subscriptions map[string]*Subscription   // by id
	ended         map[string]*Subscription   // likewise; the other maps and lists, but for fed, do not have them
	fed           map[queue.ID]*Subscription // by their internal queues
}

// entry is a topic with its subscriptions. One of the two may be missing for a moment: the store has the subscriptions
// first.
type entry struct {
	topic *Topic
	// subscriptions are sorted by id. The slice is replaced and never changed, so that a publish reads it without a lock.
	subscriptions []*Subscription
	endpoints     map[endpoint]*Subscription
}

// endpoint is what a topic can have one subscription for.
type endpoint struct {
	protocol Protocol
	address  string
}

// Prefix is what the keys of all records of this package begin with.
const (
	Prefix          = "sns/"
	keyTopic        = Prefix + "topic/"
	keySubscription = Prefix + "subscription/"
)

// Open reads the records from the control store and follows their changes. Use has to be called before a change.
func Open(o Options) (*Topics, error) {
	t := &Topics{control: o.Control, ready: o.Ready, require: o.Require, prepare: o.Prepare, records: newRecords()}
	if t.ready == nil {
		t.ready = func() error { return nil }
	}
	if t.require == nil {
		t.require = func() error { return nil }
	}
	if t.prepare == nil {
		t.prepare = func(*control.Tx, time.Time) error { return nil }
	}
	if err := o.Control.Register(Prefix, reader{t}); err != nil {
		return nil, err
	}
	return t, nil
}

// Use says where internal queues are made and deleted. The catalog is opened last, so Open cannot be given it.
func (t *Topics) Use(queues *catalog.Catalog) { t.queues = queues }

// needFormat calls Options.Require unless that is done.
func (t *Topics) needFormat() error {
	if t.required.Load() {
		return nil
	}
	if err := t.require(); err != nil {
		return err
	}
	t.required.Store(true)
	return nil
}

// mayWrite returns an error if no record must be written yet.
func (t *Topics) mayWrite() error {
	if topics, subscriptions := t.Len(); topics+subscriptions == 0 {
		if err := t.ready(); err != nil {
			return err
		}
	}
	return t.needFormat()
}

// Find returns a topic, or nil.
func (t *Topics) Find(n Name) *Topic {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.topics[n]; e != nil {
		return e.topic
	}
	return nil
}

// Subscribed returns a topic with its subscriptions, sorted by id, or nil. The slice must not be changed.
func (t *Topics) Subscribed(n Name) (*Topic, []*Subscription) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	e := t.topics[n]
	if e == nil || e.topic == nil {
		return nil, nil
	}
	return e.topic, e.subscriptions
}

// List returns the topics of an account in a region, sorted by name.
func (t *Topics) List(account, region string) []*Topic {
	t.mu.RLock()
	var out []*Topic
	for n, e := range t.topics {
		if n.Account == account && n.Region == region && e.topic != nil {
			out = append(out, e.topic)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Topic) int { return strings.Compare(a.Name.Topic, b.Name.Topic) })
	return out
}

// Count returns how many topics an account has, in all regions together: those for which keep is true.
func (t *Topics) Count(account string, keep func(*Topic) bool) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := 0
	for name, e := range t.topics {
		if name.Account == account && e.topic != nil && keep(e.topic) {
			n++
		}
	}
	return n
}

// CountSubscriptions returns how many subscriptions an account owns, in all regions together. Those that have ended do not
// count, those that wait to be confirmed do.
func (t *Topics) CountSubscriptions(account string) int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	n := 0
	for _, s := range t.subscriptions {
		if s.Owner == account {
			n++
		}
	}
	return n
}

// Owned returns the names of an account's topics with their regions, in order.
func (t *Topics) Owned(account string) []string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var out []string
	for n, e := range t.topics {
		if n.Account == account && e.topic != nil {
			out = append(out, n.Topic+" in "+n.Region)
		}
	}
	slices.Sort(out)
	return out
}

// Subscription returns the subscription with that id, or nil.
func (t *Topics) Subscription(id string) *Subscription {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.subscriptions[id]
}

// Ended returns the subscription with that id that has ended and can be restored, or nil.
func (t *Topics) Ended(id string) *Subscription {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.ended[id]
}

// AllEnded returns the subscriptions that have ended and can be restored, sorted by id.
func (t *Topics) AllEnded() []*Subscription {
	t.mu.RLock()
	out := slices.Collect(maps.Values(t.ended))
	t.mu.RUnlock()
	slices.SortFunc(out, byID)
	return out
}

// endedOf returns those of AllEnded that are of a topic.
func (t *Topics) endedOf(n Name) []*Subscription {
	return slices.DeleteFunc(t.AllEnded(), func(s *Subscription) bool { return s.Topic != n })
}

// Fed returns the subscription whose internal queue that is, or nil. It may have ended.
func (t *Topics) Fed(id queue.ID) *Subscription {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.fed[id]
}

// NeededQueues returns the ARNs of the queues that get messages of topics, as an endpoint or as a dead-letter queue.
func (t *Topics) NeededQueues() map[string]bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make(map[string]bool)
	for _, s := range t.subscriptions {
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
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make(map[string]bool)
	for _, s := range t.subscriptions {
		if s.Attributes.Redrive != "" {
			out[s.Attributes.Redrive] = true
		}
	}
	return out
}

// SubscriptionsOf returns the subscriptions that an account owns, to topics of a region, sorted by ARN.
func (t *Topics) SubscriptionsOf(account, region string) []*Subscription {
	t.mu.RLock()
	var out []*Subscription
	for _, s := range t.subscriptions {
		if s.Owner == account && s.Topic.Region == region {
			out = append(out, s)
		}
	}
	t.mu.RUnlock()
	slices.SortFunc(out, func(a, b *Subscription) int { return strings.Compare(a.ARN(), b.ARN()) })
	return out
}

// Filters returns how many subscriptions of an account, to topics of a region, have a filter policy.
func (t *Topics) Filters(account, region string) (n int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, s := range t.subscriptions {
		if s.Owner == account && s.Topic.Region == region && s.Attributes.Filter != "" {
			n++
		}
	}
	return n
}

// To returns the subscription of a topic to an endpoint, or nil.
func (t *Topics) To(n Name, p Protocol, address string) *Subscription {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if e := t.topics[n]; e != nil {
		return e.endpoints[endpoint{p, address}]
	}
	return nil
}

// Len returns how many topics and subscriptions there are.
func (t *Topics) Len() (topics, subscriptions int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, e := range t.topics {
		if e.topic != nil {
			topics++
		}
	}
	return topics, len(t.subscriptions)
}
