package sns

import (
	"context"
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
	"github.com/sluicemq/sluice/internal/tool/weburl"
	"github.com/sluicemq/sluice/internal/topic"
)

// subscriptions serves the operations about subscriptions and their attributes.
type subscriptions struct {
	*core
	quotas        *quotas
	confirmations *confirmations
	endings       *endings
	endpoints     func(protocol, endpoint string) error // see Options.CheckEndpoint
	phones        func() error                          // see Options.CheckPhones
}

func (s *subscriptions) register(wire *protocol.Service) {
	protocol.Register(wire, "GetSubscriptionAttributes", s.getSubscriptionAttributes)
	protocol.Register(wire, "ListSubscriptions", s.listSubscriptions)
	protocol.Register(wire, "ListSubscriptionsByTopic", s.listSubscriptionsByTopic)
	protocol.Register(wire, "SetSubscriptionAttributes", s.setSubscriptionAttributes, protocol.Control)
	protocol.Register(wire, "Subscribe", s.subscribe, protocol.Control)
	protocol.Register(wire, "Unsubscribe", s.unsubscribe, protocol.Control, protocol.Unsigned)
}

type subscribeInput struct {
	TopicArn              *string           `max:"2048"`
	Protocol              *string           `max:"64"`
	Endpoint              *string           `max:"2048"        hidden:"url"`
	Attributes            map[string]string `max:"50,256,256K"              wrap:"entry" entry:"key,value"`
	ReturnSubscriptionArn *bool
}

type subscriptionARNOutput struct{ SubscriptionArn string }

// pendingARN is the ARN that clients see of an unconfirmed subscription.
const pendingARN = "PendingConfirmation"

func (s *subscriptions) subscribe(
	ctx context.Context, c *protocol.Call, in *subscribeInput,
) (*subscriptionARNOutput, error) {
	var v protocol.Violations
	written, address := v.Required("protocol", in.Protocol), ""
	if in.Endpoint != nil {
		address = *in.Endpoint
	}
	t, err := s.findFor(c, in.TopicArn, "SNS:Subscribe", func(about *service.Subject) {
		about.Lookup = func(name string) (policy.Value, bool) {
			switch name {
			case "sns:protocol":
				return policy.Text(written), in.Protocol != nil
			case "sns:endpoint":
				return policy.Text(address), in.Endpoint != nil
			}
			return policy.Value{}, false
		}
	})
	if err != nil {
		return nil, err
	}
	if err := v.Err(); err != nil {
		return nil, err
	}
	caller := service.Caller(c)
	wanted := topic.Subscription{
		Topic: t.Name, Protocol: topic.Protocol(written), Endpoint: address, Owner: caller.Account,
		Principal: caller.ARN,
	}
	confirmed, err := s.checkEndpoint(&wanted)
	if err != nil {
		return nil, err
	}
	is, err := s.subscribeTo(ctx, t, wanted, in.Attributes, confirmed)
	if err != nil {
		return nil, err
	}
	sub := is.Subscription
	if is.token != "" {
		s.confirmations.askToConfirm(ctx, sub, is.token)
	}
	if sub.Pending() && (in.ReturnSubscriptionArn == nil || !*in.ReturnSubscriptionArn) {
		return &subscriptionARNOutput{"pending confirmation"}, nil
	}
	return &subscriptionARNOutput{sub.ARN()}, nil
}

// subscribed is a requested subscription.
type subscribed struct {
	*topic.Subscription
	token string // with which its endpoint confirms it; empty if it need not, or was asked before
}

// subscribeTo adds a subscription. If there is one to this endpoint, it returns that, provided that it equals the
// request.
func (s *subscriptions) subscribeTo(
	ctx context.Context, t *topic.Topic, wanted topic.Subscription, attributes map[string]string, confirmed bool,
) (subscribed, error) {
	return control.Decide(ctx, s.change, func(tx *topic.Tx) (subscribed, error) {
		if current := s.topics.Find(t.Name); current == nil || current.ID != t.ID {
			return subscribed{}, topic.ErrNoTopic
		}
		if sub := s.topics.To(t.Name, wanted.Protocol, wanted.Endpoint); sub != nil {
			return s.sameSubscription(tx, sub, attributes)
		}
		return s.newSubscription(tx, wanted, attributes, confirmed)
	})
}

// newSubscription adds a subscription that does not exist yet.
func (s *subscriptions) newSubscription(
	tx *topic.Tx,
	wanted topic.Subscription,
	attributes map[string]string,
	confirmed bool,
) (subscribed, error) {
	if err := (&subscriptionChange{&wanted, several}).setAll(attributes); err != nil {
		return subscribed{}, err
	}
	if err := s.quotas.checkLimits(&wanted); err != nil {
		return subscribed{}, err
	}
	if err := s.checkRoom(); err != nil {
		return subscribed{}, err
	}
	wanted.Created, wanted.Authenticated, wanted.KeepsOnLink = s.now(), confirmed, confirmed
	sub, err := tx.Subscribe(wanted)
	if err != nil || confirmed {
		return subscribed{sub, ""}, err
	}
	return s.confirmations.renewToken(tx, sub), nil
}

// sameSubscription returns an existing subscription if it equals the request. If it is unconfirmed, its endpoint gets
// another confirmation request, with a new token.
func (s *subscriptions) sameSubscription(
	tx *topic.Tx, sub *topic.Subscription, attributes map[string]string,
) (subscribed, error) {
	wanted := *sub
	if err := (&subscriptionChange{&wanted, several}).setAll(attributes); err != nil {
		return subscribed{}, err
	}
	had := sub.Attributes
	had.Scope, wanted.Attributes.Scope = scopeOf(&had), scopeOf(&wanted.Attributes)
	if wanted.Attributes != had {
		return subscribed{}, errParameter("Attributes Reason: Subscription already exists with different attributes")
	}
	if !sub.Pending() {
		return subscribed{sub, ""}, nil
	}
	return s.confirmations.renewToken(tx, sub), nil
}

// notOffered are protocols of AWS that this server does not have.
var notOffered = []topic.Protocol{"application", "firehose", "lambda"}

// checkEndpoint refuses an endpoint that cannot receive messages. It reports whether the subscription is confirmed at
// once: the account that owns the queue has requested it, or it is of a phone, which AWS does not ask.
func (s *subscriptions) checkEndpoint(sub *topic.Subscription) (confirmed bool, err error) {
	p, offered := sub.Protocol, !slices.Contains(notOffered, sub.Protocol)
	switch {
	case offered && !p.Known():
		return false, errParameter("Amazon SNS does not support this protocol string: %s", service.Shorten(string(p)))
	case p != topic.SQS && sub.Topic.FIFO():
		return false, errParameter("Invalid protocol type: %s", p)
	case p == "application" && isPushEndpoint(sub.Endpoint): // none exists, because they cannot be created
		return false, errParameter(
			"Endpoint Reason: Endpoint does not exist for endpoint %s", service.Shorten(sub.Endpoint),
		)
	case p == "application":
		return false, errParameter("Application endpoint arn invalid:%s", service.Shorten(sub.Endpoint))
	case !offered:
		return false, errUnsupported("Protocol", "This server does not deliver by "+string(p)+".")
	case p == topic.SQS:
		return s.checkQueue(sub)
	case p == topic.SMS:
		return true, s.checkPhone(sub.Endpoint)
	}
	return false, s.checkAddress(sub)
}

// checkQueue is checkEndpoint for a queue, which need not exist. The ARN is stored with the partition aws, even if the
// client named another.
func (s *subscriptions) checkQueue(sub *topic.Subscription) (confirmed bool, err error) {
	n, ok := service.ParseQueueARN(sub.Endpoint)
	switch {
	case !ok:
		return false, errParameter("SQS endpoint ARN")
	case isFIFO(n.Queue) && !sub.Topic.FIFO():
		return false, errParameter("Invalid parameter: Endpoint Reason: FIFO SQS Queues can not be subscribed to standard SNS topics")
	}
	sub.Endpoint = n.ARN()
	return n.Account == sub.Owner, nil
}

type unsubscribeInput struct {
	SubscriptionArn *string `max:"2048"`
}

// unsubscribe deletes a subscription. A missing one is no error. As on AWS, an unconfirmed one ends with its token or
// its topic. If the caller is not the owner, the endpoint is notified and can restore the subscription, unless it is a
// phone.
func (s *subscriptions) unsubscribe(
	ctx context.Context, c *protocol.Call, in *unsubscribeInput,
) (*service.Empty, error) {
	if service.Anonymous(c) {
		c.Page = &pageOfOwner
	}
	sub, err := s.findUnsubscribed(c, in.SubscriptionArn)
	switch {
	case saysGone(err) && service.Anonymous(c):
		c.Page = &pageOfNoSubscription
		return nil, nil
	case saysGone(err):
		return nil, nil
	case err != nil:
		return nil, err
	case sub.Pending():
		return nil, errPending()
	}
	if sub.Protocol != topic.SMS && (service.Anonymous(c) || service.Caller(c).Account != sub.Owner) {
		var back string
		back, err = s.endings.end(ctx, sub)
		if service.Anonymous(c) {
			c.Page = pageOfEnd(sub, back)
		}
	} else {
		err = s.change(ctx, func(tx *topic.Tx) error { return tx.Unsubscribe(sub.ID, s.now()) })
	}
	if saysGone(err) {
		return nil, nil
	}
	return nil, err
}

// findUnsubscribed returns the subscription that a request ends. An unsigned request has followed the link in a
// message: the ARN then suffices, unless the subscription was confirmed with AuthenticateOnUnsubscribe.
func (s *subscriptions) findUnsubscribed(c *protocol.Call, arn *string) (*topic.Subscription, error) {
	if !service.Anonymous(c) {
		return s.findSubscription(c, arn, "SNS:Unsubscribe")
	}
	switch _, sub, err := s.subscriptionNamed(c, arn); {
	case err != nil:
		return nil, err
	case sub == nil:
		return nil, errNoSubscription()
	case sub.KeepsOnLink:
		return nil, protocol.MissingAuthenticationToken()
	default:
		return sub, nil
	}
}

type listedSubscription struct {
	SubscriptionArn string
	Owner           string
	Protocol        string
	Endpoint        string
	TopicArn        string
}

type listSubscriptionsOutput struct {
	Subscriptions []listedSubscription `json:",always"    wrap:"member"`
	NextToken     string               `json:",omitempty"`
}

func (s *subscriptions) listSubscriptions(
	_ context.Context, c *protocol.Call, in *listInput,
) (*listSubscriptionsOutput, error) {
	account := service.Caller(c).Account
	everything := service.Subject{Resource: service.ARN("arn:aws:sns:" + c.Region + ":" + account + ":*")}
	if err := s.authorize(c, everything, "SNS:ListSubscriptions"); err != nil {
		return nil, err
	}
	read := func(after string, most int) []*topic.Subscription {
		return s.topics.SubscriptionsPage(account, c.Region, after, most)
	}
	return listed(read, in.NextToken, "subscriptions")
}

type listByTopicInput struct {
	TopicArn  *string `max:"2048"`
	NextToken *string `max:"2048"`
}

func (s *subscriptions) listSubscriptionsByTopic(
	_ context.Context, c *protocol.Call, in *listByTopicInput,
) (*listSubscriptionsOutput, error) {
	t, err := s.find(c, in.TopicArn, "SNS:ListSubscriptionsByTopic")
	if err != nil {
		return nil, err
	}
	_, all := s.topics.Subscribed(t.Name)
	return listed(service.Reading(all, (*topic.Subscription).ARN), in.NextToken, t.Name.ARN())
}

// listed returns a page of a list, which is sorted by ARN.
func listed(
	read func(after string, most int) []*topic.Subscription, token *string, about string,
) (*listSubscriptionsOutput, error) {
	p, err := paginate(read, (*topic.Subscription).ARN, token, about)
	if err != nil {
		return nil, err
	}
	return &listSubscriptionsOutput{service.Convert(p.Items, func(sub *topic.Subscription) listedSubscription {
		arn := sub.ARN()
		if sub.Pending() {
			arn = pendingARN
		}
		return listedSubscription{arn, sub.Owner, string(sub.Protocol), weburl.Masked(sub.Endpoint), sub.Topic.ARN()}
	}), p.Next}, nil
}

// sortedNames returns the names of attributes in a fixed order.
func sortedNames[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }
