package topic

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
)

// Tx is a change in progress. It can create one topic or subscription, and change or delete any number of them.
type Tx struct {
	t      *Topics
	tx     *control.Tx
	queues *catalog.Tx
}

// Change makes a change; see control.Control.Change. It first checks that all programs can read the records, and
// returns the error of Options.Formats if not.
func (t *Topics) Change(ctx context.Context, f func(*Tx) error) error {
	return t.records.Change(ctx, func(tx *control.Tx) error { return f(&Tx{t, tx, t.queues.In(tx)}) })
}

// Create adds a topic and returns its record. A topic of that name must not exist. A FIFO topic gets an internal queue.
func (tx *Tx) Create(n Name, a Attributes, tags map[string]string, now time.Time) (*Topic, error) {
	if err := tx.t.prepare(tx.tx, now); err != nil {
		return nil, err
	}
	t := &Topic{Name: n, ID: uuid.NewString(), Created: now, Attributes: a, Tags: tags}
	if n.FIFO() {
		q, err := tx.queues.Create(catalog.TopicQueue(t.ID), topicQueue(a), nil, now)
		if err != nil {
			return nil, fmt.Errorf("make the queue of a topic: %w", err)
		}
		t.Queue = q.ID
	}
	topicTable.Put(tx.tx, n, t)
	return t, nil
}

// topicQueue returns the attributes of the internal queue of a FIFO topic.
func topicQueue(a Attributes) catalog.Attributes {
	q := catalog.Attributes{
		FIFO: true, RetentionSeconds: internalRetention, VisibilitySeconds: internalVisibility, DedupScope: "queue",
	}
	if a.Throughput == ThroughputGroup {
		q.DedupScope = "messageGroup"
	}
	return q
}

// The values of FifoThroughputScope.
const (
	ThroughputTopic = "Topic"
	ThroughputGroup = "MessageGroup"
)

// The attributes of internal queues. SNS gives up a delivery after 23 days, but keeps a message that it could not
// deliver for at most 14 days in a queue. A delivery that was interrupted is tried again after half a minute.
const (
	internalRetention  = 14 * 24 * 60 * 60
	internalVisibility = 30
)

// Update changes the record of a topic. change gets a copy; if it returns an error, nothing is changed and Update
// returns that error. If the topic is gone, or was created again under its name, the error is ErrNoTopic.
func (tx *Tx) Update(t *Topic, change func(*Topic) error) (*Topic, error) {
	old := tx.t.Find(t.Name)
	if old == nil || old.ID != t.ID {
		return nil, ErrNoTopic
	}
	updated := old.clone()
	if err := change(updated); err != nil {
		return nil, err
	}
	if scope := topicQueue(updated.Attributes).DedupScope; t.Queue != 0 &&
		scope != topicQueue(old.Attributes).DedupScope {
		_, err := tx.queues.Update(catalog.TopicQueue(t.ID), t.Queue, func(q *catalog.Queue) error {
			q.Attributes.DedupScope = scope
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("change the queue of a topic: %w", err)
		}
	}
	topicTable.Put(tx.tx, t.Name, updated)
	return updated, nil
}

// mostAtOnce is how many subscriptions one change deletes with their topic, because the size of a commit is limited.
const mostAtOnce = 1000

// Delete removes a topic with its subscriptions and their queues. If it has more subscriptions than one commit can
// hold, Delete removes some of them and returns done=false. Call it again then, in another change.
func (tx *Tx) Delete(t *Topic, now time.Time) (done bool, err error) {
	current, subscriptions := tx.t.Subscribed(t.Name)
	if current == nil || current.ID != t.ID {
		return false, ErrNoTopic
	}
	subscriptions = slices.Concat(subscriptions, tx.t.endedOf(t.Name))
	done = len(subscriptions) <= mostAtOnce
	for _, s := range subscriptions[:min(len(subscriptions), mostAtOnce)] {
		if err := tx.removeSubscription(s, now); err != nil {
			return false, err
		}
	}
	if !done {
		return false, nil
	}
	if t.Queue != 0 {
		if err := tx.queues.Delete(catalog.TopicQueue(t.ID), t.Queue, now); err != nil {
			return false, fmt.Errorf("delete the queue of a topic: %w", err)
		}
	}
	topicTable.Delete(tx.tx, t.Name)
	return true, nil
}

// Subscribe adds a subscription and returns its record. The caller has set all fields except ID and Queue. A
// subscription whose messages wait for their delivery gets an internal queue. An earlier subscription of the same
// endpoint that has ended can no longer be restored.
func (tx *Tx) Subscribe(s Subscription) (*Subscription, error) {
	for _, earlier := range tx.t.endedOf(s.Topic) {
		if earlier.Protocol == s.Protocol && earlier.Endpoint == s.Endpoint {
			if err := tx.removeSubscription(earlier, s.Created); err != nil {
				return nil, err
			}
		}
	}
	s.ID = uuid.NewString()
	if s.Protocol.Waits() {
		q, err := tx.queues.Create(catalog.SubscriptionQueue(s.ID), catalog.Attributes{
			RetentionSeconds: internalRetention, VisibilitySeconds: internalVisibility,
		}, nil, s.Created)
		if err != nil {
			return nil, fmt.Errorf("make the queue of a subscription: %w", err)
		}
		s.Queue = q.ID
	}
	subsTable.Put(tx.tx, s.ID, &s)
	return &s, nil
}

// Renew requests a new confirmation of a subscription, which this change may have created, and returns its new record.
func (tx *Tx) Renew(s *Subscription, c Confirmation) *Subscription {
	renewed := s.clone()
	renewed.Confirmation = &c
	subsTable.Put(tx.tx, s.ID, renewed)
	return renewed
}

// UpdateSubscription changes the record of a subscription. change gets a copy; if it returns an error, nothing is
// changed and UpdateSubscription returns that error. If the subscription is gone, the error is ErrNoSubscription.
func (tx *Tx) UpdateSubscription(id string, change func(*Subscription) error) (*Subscription, error) {
	return tx.update(tx.t.Subscription(id), change)
}

// UpdateEnded is UpdateSubscription for a subscription that has ended. Removing its Ending restores it.
func (tx *Tx) UpdateEnded(id string, change func(*Subscription) error) (*Subscription, error) {
	return tx.update(tx.t.Ended(id), change)
}

func (tx *Tx) update(old *Subscription, change func(*Subscription) error) (*Subscription, error) {
	if old == nil {
		return nil, ErrNoSubscription
	}
	updated := old.clone()
	if err := change(updated); err != nil {
		return nil, err
	}
	subsTable.Put(tx.tx, old.ID, updated)
	return updated, nil
}

// Unsubscribe removes a subscription with its queue, and counts the deletion.
func (tx *Tx) Unsubscribe(id string, now time.Time) error {
	s := tx.t.Subscription(id)
	if s == nil {
		return ErrNoSubscription
	}
	tx.countDeleted(s.Topic)
	return tx.removeSubscription(s, now)
}

// mostEnded is how many ended subscriptions of a topic are kept to be restored.
const mostEnded = 1000

// End ends a subscription, and counts the deletion. Its endpoint can restore it with the token of c, but gets no
// messages from then on. If the topic already has mostEnded ended subscriptions, End removes the subscription and
// returns nil.
func (tx *Tx) End(id string, c Confirmation, now time.Time) (*Subscription, error) {
	if s := tx.t.Subscription(id); s != nil && len(tx.t.endedOf(s.Topic)) >= mostEnded {
		return nil, tx.Unsubscribe(id, now)
	}
	s, err := tx.UpdateSubscription(id, func(s *Subscription) error {
		s.Confirmation, s.Ending = &c, &Ending{At: now}
		return nil
	})
	if err != nil {
		return nil, err
	}
	tx.countDeleted(s.Topic)
	return s, nil
}

// countDeleted counts the deletion of a subscription of a topic.
func (tx *Tx) countDeleted(n Name) {
	if t := tx.t.Find(n); t != nil {
		t = t.clone()
		t.Deleted++
		topicTable.Put(tx.tx, n, t)
	}
}

// Forgotten returns the subscriptions that were not confirmed in time, including ended ones: no endpoint can confirm
// them anymore. It returns at most as many as Forget accepts.
func (t *Topics) Forgotten(now time.Time) (out []*Subscription) {
	r := t.records.RLock()
	defer t.records.RUnlock()
	for _, s := range r.subscriptions {
		if s.Forgotten(now) && len(out) < mostAtOnce {
			out = append(out, s)
		}
	}
	return out
}

// Forget removes those subscriptions of Forgotten that are still unconfirmed.
func (tx *Tx) Forget(all []*Subscription, now time.Time) error {
	for _, s := range all {
		current := tx.t.Subscription(s.ID)
		if current == nil {
			current = tx.t.Ended(s.ID)
		}
		if current == nil || !current.Forgotten(now) {
			continue
		}
		if err := tx.removeSubscription(current, now); err != nil {
			return err
		}
	}
	return nil
}

func (tx *Tx) removeSubscription(s *Subscription, now time.Time) error {
	if s.Queue != 0 {
		if err := tx.queues.Delete(catalog.SubscriptionQueue(s.ID), s.Queue, now); err != nil {
			return fmt.Errorf("delete the queue of a subscription: %w", err)
		}
	}
	subsTable.Delete(tx.tx, s.ID)
	return nil
}
