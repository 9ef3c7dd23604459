package sns

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/tool/weburl"
	"github.com/sluicemq/sluice/internal/topic"
	"github.com/sluicemq/sluice/internal/topic/filter"
	"github.com/sluicemq/sluice/internal/topic/jackson"
)

// The attributes of subscriptions, except DeliveryPolicy.
const (
	attrFilter  = "FilterPolicy"
	attrScope   = "FilterPolicyScope"
	attrRaw     = "RawMessageDelivery"
	attrRedrive = "RedrivePolicy"
	attrReplay  = "ReplayPolicy"
	attrRole    = "SubscriptionRoleArn"
)

// subscriptionChange sets attributes of a subscription to a client's values.
type subscriptionChange struct {
	sub *topic.Subscription
	wording
}

// setAll sets the attributes and checks them together. After an error the subscription is partly changed and must be
// discarded.
func (c *subscriptionChange) setAll(values map[string]string) error {
	for _, name := range sortedNames(values) {
		if err := c.set(name, values[name]); err != nil {
			return err
		}
	}
	return c.checkFilter()
}

func (c *subscriptionChange) set(name, value string) error {
	a := &c.sub.Attributes
	switch name {
	case attrRaw:
		return c.setRaw(value)
	case attrFilter:
		if a.Filter = value; value == "{}" {
			a.Filter = "" // it accepts everything
		}
		return nil
	case attrScope:
		if value != topic.ScopeAttributes && value != topic.ScopeBody {
			return c.wrong(
				name, "Invalid value ["+service.Shorten(value)+"]. Please use either MessageBody or MessageAttributes",
			)
		}
		a.Scope = value
		return nil
	case attrRedrive:
		return c.setRedrive(value)
	case attrDelivery:
		return c.setDelivery(value)
	case attrReplay:
		return c.setReplay(value)
	case attrRole:
		if value == "" {
			return nil
		}
		return c.wrong(name, "It is for the protocol firehose, which this server does not have.")
	}
	return c.unknown(name)
}

func (c *subscriptionChange) setRaw(value string) error {
	raw := strings.EqualFold(value, "true")
	switch p := c.sub.Protocol; {
	case !raw && !strings.EqualFold(value, "false"):
		return c.wrong(attrRaw, "Invalid value ["+service.Shorten(value)+"]. Must be true or false.")
	case p != topic.SQS && p != topic.HTTP && p != topic.HTTPS: // false is refused, too
		return c.refuse("Delivery protocol [" + string(p) + "] does not support raw message delivery.")
	}
	c.sub.Attributes.Raw = raw
	return nil
}

// deadLetterTarget is the only member of a RedrivePolicy.
const deadLetterTarget = "deadLetterTargetArn"

// setRedrive sets a RedrivePolicy. The empty string and the empty object remove it. The dead-letter queue need not
// exist.
func (c *subscriptionChange) setRedrive(value string) error {
	c.sub.Attributes.Redrive = ""
	var p map[string]json.RawMessage
	switch {
	case value == "":
		return nil
	case !json.Valid([]byte(value)):
		return c.wrong(attrRedrive, "failed to parse JSON. "+jackson.Fault(value))
	case json.Unmarshal([]byte(value), &p) != nil || p == nil:
		return c.wrong(
			attrRedrive, "failed to parse JSON. It has the form {\"deadLetterTargetArn\":\"arn:aws:sqs:...\"}",
		)
	case len(p) == 0:
		return nil
	}
	for _, name := range sortedNames(p) {
		if name != deadLetterTarget {
			return c.wrong(attrRedrive, "invalid JSON. Attribute "+service.Shorten(name)+" is unknown.")
		}
	}
	var arn string
	if json.Unmarshal(p[deadLetterTarget], &arn) != nil {
		return c.wrong(attrRedrive, "deadLetterTargetArn is an invalid arn")
	}
	n, ok := service.ParseQueueARN(arn)
	switch {
	case !ok:
		return c.wrong(attrRedrive, "deadLetterTargetArn is an invalid arn")
	case n.Region != c.sub.Topic.Region || n.Account != c.sub.Owner:
		return c.wrong(attrRedrive, "deadLetterTargetArn must be a queue of the subscription's account and region")
	case toFIFO(c.sub) && !isFIFO(n.Queue):
		return c.wrong(attrRedrive, "must use a FIFO queue as DLQ for a FIFO Subscription to a FIFO Topic.")
	case !toFIFO(c.sub) && isFIFO(n.Queue):
		return c.wrong(attrRedrive, "must use a standard queue as DLQ for a standard Subscription.")
	}
	c.sub.Attributes.Redrive = n.ARN()
	return nil
}

// checkFilter refuses an invalid filter policy. Its scope may have been set after it.
func (c *subscriptionChange) checkFilter() error {
	_, err := c.sub.Attributes.ParseFilter()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*filter.Error](err)
	if !ok {
		return err
	}
	return c.wrongFilter(e.Error())
}

type subscriptionInput struct {
	SubscriptionArn *string `max:"2048"`
}

type subscriptionAttributesOutput struct {
	Attributes map[string]string `wrap:"entry" entry:"key,value"`
}

func (s *subscriptions) getSubscriptionAttributes(
	_ context.Context,
	c *protocol.Call,
	in *subscriptionInput,
) (*subscriptionAttributesOutput, error) {
	sub, err := s.findSubscription(c, in.SubscriptionArn, "SNS:GetSubscriptionAttributes")
	if err != nil {
		return nil, err
	}
	out := describeSubscription(sub)
	if t := s.topics.Find(sub.Topic); t != nil && (sub.Protocol == topic.HTTP || sub.Protocol == topic.HTTPS) {
		out["EffectiveDeliveryPolicy"] = effectiveDeliveryOf(t, sub)
	}
	return &subscriptionAttributesOutput{out}, nil
}

// describeSubscription returns all attributes of a subscription as clients see them.
func describeSubscription(sub *topic.Subscription) map[string]string {
	a := &sub.Attributes
	out := map[string]string{
		"SubscriptionArn": sub.ARN(), "TopicArn": sub.Topic.ARN(), "Owner": sub.Owner, "Protocol": string(sub.Protocol),
		"Endpoint": weburl.Masked(sub.Endpoint), "SubscriptionPrincipal": sub.Principal,
		"PendingConfirmation":          strconv.FormatBool(sub.Pending()),
		"ConfirmationWasAuthenticated": strconv.FormatBool(sub.Authenticated),
		attrRaw:                        strconv.FormatBool(a.Raw),
	}
	if a.Filter != "" {
		out[attrFilter], out[attrScope] = a.Filter, scopeOf(a)
	}
	if a.Redrive != "" {
		out[attrRedrive] = `{"deadLetterTargetArn":"` + a.Redrive + `"}`
	}
	if a.Replay != "" {
		out[attrReplay], out[attrReplayStatus] = a.Replay, "Failed" // there is no archive
	}
	if a.Delivery != "" {
		out[attrDelivery] = deliveryOfSubscription(a.Delivery)
	}
	return out
}

// scopeOf returns the FilterPolicyScope of a subscription.
func scopeOf(a *topic.SubscriptionAttributes) string {
	if a.Scope == "" {
		return topic.ScopeAttributes
	}
	return a.Scope
}

type setSubscriptionAttributesInput struct {
	SubscriptionArn *string `max:"2048"`
	setAttribute
}

func (s *subscriptions) setSubscriptionAttributes(
	ctx context.Context,
	c *protocol.Call,
	in *setSubscriptionAttributesInput,
) (*service.Empty, error) {
	sub, err := s.findSubscription(c, in.SubscriptionArn, "SNS:SetSubscriptionAttributes")
	if err != nil {
		return nil, err
	}
	name, value, err := in.pair()
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *topic.Tx) error {
		_, err := tx.UpdateSubscription(sub.ID, func(sub *topic.Subscription) error {
			if err := (&subscriptionChange{sub, one}).setAll(map[string]string{name: value}); err != nil {
				return err
			}
			if name != attrFilter {
				return nil
			}
			return s.quotas.checkFilters(sub)
		})
		return err
	})
}
