package topic

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Check reads the records without changing them, and returns the numbers of topics and subscriptions, and the problems
// found. queues are the catalog's queues. An error means that the store could not be read.
func Check(s *store.Store, queues []*catalog.Queue) (topics, subscriptions int, problems []string, err error) {
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	r, err := control.Check(s, Prefix, newRecords, func(key string, bad error) {
		want(false, "record %q: %v", key, bad)
	})
	if err != nil {
		return 0, 0, problems, fmt.Errorf("check topics: %w", err)
	}
	internal := make(map[catalog.Name]*catalog.Queue)
	for _, q := range queues {
		if q.Name.Internal() {
			internal[q.Name] = q
		}
	}
	has := func(what string, n catalog.Name, q *catalog.Queue) {
		want(q != nil, "%s has no queue %s", what, n.Queue)
		delete(internal, n)
	}
	for n := range r.entries {
		want(r.topics[n] != nil, "topic %s has subscriptions and does not exist", n.ARN())
	}
	for n, t := range r.topics {
		if n.FIFO() {
			name := catalog.TopicQueue(t.ID)
			has("topic "+n.ARN(), name, internal[name])
		}
	}
	for _, sub := range r.subscriptions {
		want(sub.broken == nil, "the filter policy of subscription %s: %v", sub.ARN(), sub.broken)
		if sub.Protocol.Waits() {
			name := catalog.SubscriptionQueue(sub.ID)
			has("subscription "+sub.ARN(), name, internal[name])
		}
	}
	for n := range internal {
		problems = append(problems, "the internal queue "+n.Queue+" belongs to no topic and no subscription")
	}
	return len(r.topics), len(r.subscriptions) - len(r.ended), problems, nil
}
