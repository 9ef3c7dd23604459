package sns

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/retry"
)

// setDelivery sets the DeliveryPolicy, which says how often and how fast deliveries to HTTP endpoints are tried again.
// The empty string removes it.
func (c *topicChange) setDelivery(value string) error {
	if value != "" {
		if _, err := retry.ParseTopic(value); err != nil {
			return c.wrong(attrDelivery, deliveryReason(err))
		}
	}
	c.attrs.Delivery = value
	return nil
}

// setDelivery sets the DeliveryPolicy, of which only subscriptions of HTTP endpoints make use. The empty string removes
// it.
func (c *subscriptionChange) setDelivery(value string) error {
	if value != "" {
		if _, err := retry.ParseSubscription(value); err != nil {
			return c.wrong(attrDelivery, deliveryReason(err))
		}
	}
	c.sub.Attributes.Delivery = value
	return nil
}

// deliveryReason returns what is wrong with a delivery policy, without the name of the attribute.
func deliveryReason(err error) string {
	return service.Shorten(strings.TrimPrefix(err.Error(), attrDelivery+": "))
}

// deliveryOf returns the delivery policy of a topic as AWS shows it, or nothing.
func deliveryOf(value string) string {
	if value == "" {
		return ""
	}
	t, _ := retry.ParseTopic(value) // one that cannot be read says nothing
	return t.Written()
}

// deliveryOfSubscription is deliveryOf for a subscription.
func deliveryOfSubscription(value string) string {
	s, _ := retry.ParseSubscription(value)
	return s.Written()
}

// effectiveDelivery returns the delivery policy of a topic with AWS's defaults for what it does not say.
func effectiveDelivery(value string) string {
	t, _ := retry.ParseTopic(value) // one that cannot be read says nothing
	return t.Shown()
}

// effectiveDeliveryOf is effectiveDelivery for a subscription of a topic.
func effectiveDeliveryOf(t *topic.Topic, sub *topic.Subscription) string {
	all, _ := retry.ParseTopic(t.Attributes.Delivery)
	own, _ := retry.ParseSubscription(sub.Attributes.Delivery)
	return retry.Effective(all, own).Shown()
}
