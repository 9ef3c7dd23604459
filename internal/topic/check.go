package topic

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/store"
)

// Check reads the records without changing anything, and returns the numbers of topics and subscriptions, and the
// problems found. queues are the catalog's queues. An error says that the store could not be read.
func Check(s *store.Store, queues []*catalog.Queue) (topics, subscriptions int, problems []string, err error) {
	t := &Topics{records: newRecords()}
	want := func(ok bool, format string, args ...any) {
		if !ok {
			problems = append(problems, fmt.Sprintf(format, args...))
		}
	}
	err = control.Records(s, Prefix, func(k string, v []byte) bool {
		bad := t.put(k, v, false)
		want(bad == nil, "record %q: %v", k, bad)
		return true
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
	for n, e := range t.topics {
		want(e.topic != nil, "topic %s has subscriptions and does not exist", n.ARN())
		if e.topic != nil && n.FIFO() {
			name := catalog.TopicQueue(e.topic.ID)
			has("topic "+n.ARN(), name, internal[name])
		}
	}
	for _, sub := range slices.Concat(slices.Collect(maps.Values(t.subscriptions)), t.AllEnded()) {
		want(sub.broken == nil, "the filter policy of subscription %s: %v", sub.ARN(), sub.broken)
		if sub.Protocol != SQS {
			name := catalog.SubscriptionQueue(sub.ID)
			has("subscription "+sub.ARN(), name, internal[name])
		}
	}
	for n := range internal {
		problems = append(problems, "the internal queue "+n.Queue+" belongs to no topic and no subscription")
	}
	topics, subscriptions = t.Len()
	return topics, subscriptions, problems, nil
}
