package sns

import "encoding/json"

// setDelivery sets the DeliveryPolicy, which says how often and how fast deliveries to HTTP endpoints are tried again. The
// empty string removes it.
func (c *topicChange) setDelivery(value string) error {
	if err := checkDelivery(value); err != nil {
		return c.wrong(attrDelivery, err.Error())
	}
	c.attrs.Delivery = value
	return nil
}

func checkDelivery(value string) error {
	if value == "" {
		return nil
	}
	var object map[string]json.RawMessage
	return json.Unmarshal([]byte(value), &object)
}

// effectiveDelivery returns the delivery policy of a topic with AWS's defaults for what it does not say.
func effectiveDelivery(value string) string {
	if value == "" {
		return `{"http":{"defaultHealthyRetryPolicy":{"minDelayTarget":20,"maxDelayTarget":20,"numRetries":3,"numMaxDelayRetries":0,"numNoDelayRetries":0,"numMinDelayRetries":0,"backoffFunction":"linear"},"disableSubscriptionOverrides":false,"defaultRequestPolicy":{"headerContentType":"text/plain; charset=UTF-8"}}}`
	}
	return value
}
