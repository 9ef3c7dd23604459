package topic

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/queue"
	"github.com/sluicemq/sluice/internal/topic/filter"
)

// reader reads the control store for Topics.
type reader struct{ t *Topics }

// Load implements control.Reader.
func (r reader) Load(all iter.Seq2[string, []byte]) error {
	fresh := newRecords()
	for k, v := range all {
		if err := fresh.put(k, v, false); err != nil {
			return err
		}
	}
	for _, e := range fresh.topics {
		slices.SortFunc(e.subscriptions, byID)
	}
	if len(fresh.topics) > 0 {
		if err := r.t.needFormat(); err != nil {
			return err
		}
	}
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	r.t.records = fresh
	return nil
}

// Apply implements control.Reader.
func (r reader) Apply(changes []control.Change) error {
	if err := r.t.needFormat(); err != nil {
		return err
	}
	r.t.mu.Lock()
	defer r.t.mu.Unlock()
	for _, ch := range changes {
		if ch.Removed {
			if err := r.t.remove(ch.Key); err != nil {
				return err
			}
		} else if err := r.t.put(ch.Key, ch.Value, true); err != nil {
			return err
		}
	}
	return nil
}

func newRecords() records {
	return records{topics: make(map[Name]*entry), subscriptions: make(map[string]*Subscription), ended: make(map[string]*Subscription), fed: make(map[queue.ID]*Subscription)}
}

// put adds a record or replaces it. Where it is not to keep the subscriptions of a topic sorted, the caller sorts them.
func (r *records) put(k string, v []byte, sorted bool) error {
	switch {
	case strings.HasPrefix(k, keyTopic):
		t := new(Topic)
		if err := json.Unmarshal(v, t); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		r.entry(t.Name).topic = t
	case strings.HasPrefix(k, keySubscription):
		s := new(Subscription)
		if err := json.Unmarshal(v, s); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		s.arn = s.ARN()
		s.compile()
		r.putSubscription(s, sorted)
	default:
		return errUnknown(k)
	}
	return nil
}

func (r *records) putSubscription(s *Subscription, sorted bool) {
	if s.Ending != nil {
		r.dropSubscription(s.ID)
		r.ended[s.ID] = s
		r.feed(s)
		return
	}
	delete(r.ended, s.ID)
	old := r.subscriptions[s.ID]
	r.subscriptions[s.ID] = s
	r.feed(s)
	e := r.entry(s.Topic)
	e.endpoints[endpoint{s.Protocol, s.Endpoint}] = s
	if !sorted {
		e.subscriptions = append(e.subscriptions, s)
		return
	}
	i, _ := slices.BinarySearchFunc(e.subscriptions, s, byID)
	list := make([]*Subscription, 0, len(e.subscriptions)+1)
	list = append(append(list, e.subscriptions[:i]...), s)
	if old != nil {
		i++
	}
	e.subscriptions = append(list, e.subscriptions[i:]...)
}

// remove removes a record.
func (r *records) remove(k string) error {
	switch {
	case strings.HasPrefix(k, keyTopic):
		var n Name
		if err := json.Unmarshal([]byte(k[len(keyTopic):]), &n); err != nil {
			return fmt.Errorf("%s: %w", k, err)
		}
		if e := r.topics[n]; e != nil {
			e.topic = nil
			r.drop(n, e)
		}
	case strings.HasPrefix(k, keySubscription):
		r.dropSubscription(k[len(keySubscription):])
	default:
		return errUnknown(k)
	}
	return nil
}

// feed keeps by which queue a subscription is found.
func (r *records) feed(s *Subscription) {
	if s.Queue != 0 {
		r.fed[s.Queue] = s
	}
}

// dropSubscription forgets the subscription with that id, if there is one.
func (r *records) dropSubscription(id string) {
	if s := r.ended[id]; s != nil {
		delete(r.ended, id)
		delete(r.fed, s.Queue)
		return
	}
	s := r.subscriptions[id]
	if s == nil {
		return
	}
	delete(r.subscriptions, id)
	delete(r.fed, s.Queue)
	e := r.topics[s.Topic]
	if at := (endpoint{s.Protocol, s.Endpoint}); e.endpoints[at] == s {
		delete(e.endpoints, at)
	}
	e.subscriptions = slices.DeleteFunc(slices.Clone(e.subscriptions), func(other *Subscription) bool { return other.ID == id })
	r.drop(s.Topic, e)
}

// entry returns the entry of a topic, which it makes.
func (r *records) entry(n Name) *entry {
	e := r.topics[n]
	if e == nil {
		e = &entry{endpoints: make(map[endpoint]*Subscription)}
		r.topics[n] = e
	}
	return e
}

// drop forgets an entry that is empty.
func (r *records) drop(n Name, e *entry) {
	if e.topic == nil && len(e.subscriptions) == 0 {
		delete(r.topics, n)
	}
}

func byID(a, b *Subscription) int { return strings.Compare(a.ID, b.ID) }

// errUnknown refuses a record of a newer program.
func errUnknown(k string) error {
	return errors.New("unknown record " + k + ", written by a newer program")
}

// compile parses the filter policy.
func (s *Subscription) compile() {
	s.filter, s.broken = s.Attributes.ParseFilter()
}

// ParseFilter returns the filter policy, or nil if there is none. The error is a *filter.Error.
func (a *SubscriptionAttributes) ParseFilter() (*filter.Policy, error) {
	if a.Filter == "" {
		return nil, nil
	}
	scope := filter.MessageAttributes
	if a.Scope == ScopeBody {
		scope = filter.MessageBody
	}
	return filter.Parse(a.Filter, scope)
}

// The values of FilterPolicyScope.
const (
	ScopeAttributes = "MessageAttributes"
	ScopeBody       = "MessageBody"
)

// Wants reports whether the subscription's filter policy lets a message through. An error says that the policy, which a
// program has accepted, is none to this one: then it is not known who wants the message.
func (s *Subscription) Wants(m *filter.Message) (bool, error) {
	switch {
	case s.broken != nil:
		return false, fmt.Errorf("the filter policy of %s: %w", s.ARN(), s.broken)
	case s.filter == nil:
		return true, nil
	}
	return s.filter.Matches(m), nil
}

// Reason returns why the filter policy does not let a message through that Wants has found not to be wanted.
func (s *Subscription) Reason(m *filter.Message) filter.Reason { return s.filter.Reason(m) }
