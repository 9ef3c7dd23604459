package sns

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/retry"
)

// setDelivery sets the DeliveryPolicy, which controls how often and how fast deliveries to HTTP endpoints are retried.
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

// setDelivery sets the DeliveryPolicy, which only subscriptions of HTTP endpoints use. The empty string removes it.
func (c *subscriptionChange) setDelivery(value string) error {
	if value != "" {
		if _, err := retry.ParseSubscription(value); err != nil {
			return c.wrong(attrDelivery, deliveryReason(err))
		}
	}
	c.sub.Attributes.Delivery = value
	return nil
}

// deliveryReason describes the mistake in a delivery policy, without the name of the attribute.
func deliveryReason(err error) string {
	return service.Shorten(strings.TrimPrefix(err.Error(), attrDelivery+": "))
}

// deliveryOf returns the delivery policy of a topic in AWS's form, or nothing.
func deliveryOf(value string) string {
	if value == "" {
		return ""
	}
	t, _ := retry.ParseTopic(value) // an unreadable policy counts as none
	return t.Written()
}

// deliveryOfSubscription is deliveryOf for a subscription.
func deliveryOfSubscription(value string) string {
	s, _ := retry.ParseSubscription(value)
	return s.Written()
}

// effectiveDelivery returns the delivery policy of a topic with AWS's defaults for missing values.
func effectiveDelivery(value string) string {
	t, _ := retry.ParseTopic(value) // an unreadable policy counts as none
	return t.Shown()
}

// effectiveDeliveryOf is effectiveDelivery for a subscription of a topic.
func effectiveDeliveryOf(t *topic.Topic, sub *topic.Subscription) string {
	all, _ := retry.ParseTopic(t.Attributes.Delivery)
	own, _ := retry.ParseSubscription(sub.Attributes.Delivery)
	return retry.Effective(all, own).Shown()
}
