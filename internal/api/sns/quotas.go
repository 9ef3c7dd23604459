package sns

import (
	"errors"
	"slices"

	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic"
)

// quotas limits topics and subscriptions.
type quotas struct {
	topics  *topic.Topics
	tenants *tenant.Tenants
}

// Limits of a topic and of an account, as on AWS, except for the subscriptions of a standard topic: the engine must be
// able to commit a publish in a reasonable time.
const (
	maxSubscriptions     = 100_000
	maxFIFOSubscriptions = 100
	maxLargeSubscribers  = 100 // of a topic with larger messages than usual
	maxTopicFilters      = 200
	maxAccountFilters    = 10_000
)

// checkTopics refuses a topic beyond the limit of an account.
func (s *quotas) checkTopics(account string) error {
	most, limited := s.tenants.Limit(account, tenant.Topics)
	if has, _ := s.topics.Count(account); !limited || int64(has) < most {
		return nil
	}
	e := errTopicLimit("The account has as many topics as it can have, %d.", most)
	return errors.Join(e, s.tenants.Refuse(account, tenant.Topics))
}

// checkSubscriptions refuses a subscription beyond the limit of an account.
func (s *quotas) checkSubscriptions(account string) error {
	most, limited := s.tenants.Limit(account, tenant.Subscriptions)
	if !limited || int64(s.topics.CountSubscriptions(account)) < most {
		return nil
	}
	e := errSubscriptionLimit("The account has as many subscriptions as it can have, %d.", most)
	return errors.Join(e, s.tenants.Refuse(account, tenant.Subscriptions))
}

// checkLimits refuses a subscription beyond the limits.
func (s *quotas) checkLimits(sub *topic.Subscription) error {
	t, all := s.topics.Subscribed(sub.Topic)
	most := maxSubscriptions
	if sub.Topic.FIFO() {
		most = maxFIFOSubscriptions
	}
	switch {
	case t != nil && t.TakesLarge() && sub.Protocol != topic.SQS:
		return errParameter("Protocol Reason: A topic whose MaximumMessageSize is above %d delivers to SQS queues only, and not by %s.",
			topic.UsualMessageSize, sub.Protocol)
	case t != nil && t.TakesLarge() && len(all) >= maxLargeSubscribers:
		return errParameter("TopicArn Reason: A topic whose MaximumMessageSize is above %d can have at most %d subscriptions.",
			topic.UsualMessageSize, maxLargeSubscribers)
	case len(all) >= most:
		return errSubscriptionLimit("The topic has as many subscriptions as it can have, %d.", most)
	}
	if err := s.checkSubscriptions(sub.Owner); err != nil {
		return err
	}
	return s.checkFilters(sub)
}

// checkLarge refuses a MaximumMessageSize that the subscriptions of a topic do not allow.
func (s *quotas) checkLarge(t *topic.Topic) error {
	if !t.TakesLarge() {
		return nil
	}
	_, all := s.topics.Subscribed(t.Name)
	others := func(sub *topic.Subscription) bool { return sub.Protocol != topic.SQS }
	if len(all) > maxLargeSubscribers || slices.ContainsFunc(all, others) {
		return errParameter("%s: Above %d, the topic can have at most %d subscriptions, all of them of SQS queues.",
			attrMaxSize, topic.UsualMessageSize, maxLargeSubscribers)
	}
	return nil
}

// checkFilters refuses a filter policy beyond the limit.
func (s *quotas) checkFilters(sub *topic.Subscription) error {
	if sub.Attributes.Filter == "" {
		return nil
	}
	_, all := s.topics.Subscribed(sub.Topic)
	others := 0
	for _, other := range all {
		if other.ID != sub.ID && other.Attributes.Filter != "" {
			others++
		}
	}
	switch {
	case others >= maxTopicFilters:
		return errFilterLimit("The topic has as many subscriptions with filter policies as it can have, %d.", maxTopicFilters)
	case s.topics.Filters(sub.Owner, sub.Topic.Region) >= maxAccountFilters:
		return errFilterLimit("The account has as many filter policies as it can have, %d.", maxAccountFilters)
	}
	return nil
}
