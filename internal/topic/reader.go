package topic

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/formats"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic/filter"
)

// Prefix is the prefix of the keys of all records of this package.
const Prefix = "sns/"

var (
	topicTable = control.Table[Name, Topic]{
		Prefix: Prefix + "topic/", Key: control.JSON[Name](), Format: formats.Topics,
	}
	subsTable = control.Table[string, Subscription]{
		Prefix: Prefix + "subscription/", Key: control.Text, Format: formats.Topics,
	}
)

// records are the records of the store, and the indexes that are derived from them.
type records struct {
	topics        map[Name]*Topic
	subscriptions map[string]*Subscription // by id, those that have ended, too

	ended   map[string]*Subscription   // those of them that have ended; the lists do not have them
	fed     map[queue.ID]*Subscription // by their internal queues
	entries map[Name]*entry            // of topics that have subscriptions
	order   order
	tallies tallies
}

// entry lists the subscriptions of a topic. The topic's record may be missing for a moment, because subscriptions come
// first in the store.
type entry struct {
	// subscriptions are sorted by id. The elements of a slice never change, so a publish reads it without a lock.
	subscriptions []*Subscription
	endpoints     map[endpoint]*Subscription
}

// endpoint identifies an endpoint of a topic. A topic can have one subscription for each.
type endpoint struct {
	protocol Protocol
	address  string
}

func newRecords() (*records, control.Kinds) {
	r := &records{
		ended: make(map[string]*Subscription), fed: make(map[queue.ID]*Subscription), entries: make(map[Name]*entry),
		order: newOrder(), tallies: make(tallies),
	}
	return r, control.Kinds{
		topicTable.Into(&r.topics, control.InOrder[Name](r.order.topics), r.tallies.countTopic),
		subsTable.Into(&r.subscriptions, r.index, r.order.put, r.tallies.countSubscription),
	}
}

// index maintains the lists that a subscription is in.
func (r *records) index(_ string, old, is *Subscription) error {
	if old != nil {
		r.unlist(old, is)
	}
	if is == nil {
		return nil
	}
	is.arn = is.ARN()
	is.compile()
	if is.Queue != 0 {
		r.fed[is.Queue] = is
	}
	if is.Ending != nil {
		r.ended[is.ID] = is
		return nil
	}
	e := r.entries[is.Topic]
	if e == nil {
		e = &entry{endpoints: make(map[endpoint]*Subscription)}
		r.entries[is.Topic] = e
	}
	e.put(is)
	return nil
}

// unlist removes a subscription from the lists in which its new record, which may be nil, does not replace it.
func (r *records) unlist(old, is *Subscription) {
	delete(r.fed, old.Queue)
	if old.Ending != nil {
		delete(r.ended, old.ID)
		return
	}
	if is != nil && is.Ending == nil && is.Topic == old.Topic {
		return
	}
	e := r.entries[old.Topic]
	if at := (endpoint{old.Protocol, old.Endpoint}); e.endpoints[at] == old {
		delete(e.endpoints, at)
	}
	e.subscriptions = slices.DeleteFunc(slices.Clone(e.subscriptions), func(s *Subscription) bool { return s == old })
	if len(e.subscriptions) == 0 {
		delete(r.entries, old.Topic)
	}
}

// put adds a subscription, or replaces the one with its id. A subscription that sorts last is appended, as all are when
// the records are loaded in order. Readers of the slice do not see it.
func (e *entry) put(s *Subscription) {
	e.endpoints[endpoint{s.Protocol, s.Endpoint}] = s
	i, found := slices.BinarySearchFunc(e.subscriptions, s, byID)
	if i == len(e.subscriptions) {
		e.subscriptions = append(e.subscriptions, s)
		return
	}
	rest := e.subscriptions[i:]
	if found {
		rest = rest[1:]
	}
	e.subscriptions = slices.Concat(e.subscriptions[:i], []*Subscription{s}, rest)
}

// live returns the subscriptions that have not ended.
func (r *records) live() iter.Seq[*Subscription] {
	return func(yield func(*Subscription) bool) {
		for _, s := range r.subscriptions {
			if s.Ending == nil && !yield(s) {
				return
			}
		}
	}
}

func byID(a, b *Subscription) int { return strings.Compare(a.ID, b.ID) }

// compile parses the filter policy, which an earlier version may have accepted.
func (s *Subscription) compile() {
	s.filter, s.broken = s.Attributes.parseFilter(filter.ParseStored)
}

// ParseFilter returns the filter policy, or nil if there is none. The error is a *filter.Error.
func (a *SubscriptionAttributes) ParseFilter() (*filter.Policy, error) {
	return a.parseFilter(filter.Parse)
}

func (a *SubscriptionAttributes) parseFilter(
	parse func(source string, scope filter.Scope) (*filter.Policy, error),
) (*filter.Policy, error) {
	if a.Filter == "" {
		return nil, nil
	}
	scope := filter.MessageAttributes
	if a.Scope == ScopeBody {
		scope = filter.MessageBody
	}
	return parse(a.Filter, scope)
}

// The values of FilterPolicyScope.
const (
	ScopeAttributes = "MessageAttributes"
	ScopeBody       = "MessageBody"
)

// Wants reports whether the subscription's filter policy accepts a message. An error means that this program cannot
// parse a policy that another program accepted. It is unknown then whether the subscription wants the message.
func (s *Subscription) Wants(m *filter.Message) (bool, error) {
	switch {
	case s.broken != nil:
		return false, fmt.Errorf("the filter policy of %s: %w", s.ARN(), s.broken)
	case s.filter == nil:
		return true, nil
	}
	return s.filter.Matches(m), nil
}

// Cost returns how much Wants does at most; see filter.Policy.
func (s *Subscription) Cost(m *filter.Message) int {
	if s.filter == nil {
		return 0
	}
	return s.filter.Cost(m)
}

// Reason returns why the filter policy rejects a message. Wants must have rejected it.
func (s *Subscription) Reason(m *filter.Message) filter.Reason { return s.filter.Reason(m) }
