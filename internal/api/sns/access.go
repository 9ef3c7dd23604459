package sns

import (
	"errors"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// Rules are SNS's rules for policies. A batch requires permission for the action of its entries.
var Rules = &policy.Rules{
	Vendor: "SNS",
	Actions: slices.Concat(shared, ofAccount, ofPlatforms, []string{
		"SNS:ConfirmSubscription", "SNS:CreateTopic", "SNS:GetDataProtectionPolicy", "SNS:GetSubscriptionAttributes",
		"SNS:ListSubscriptions",
		"SNS:ListTopics", "SNS:PutDataProtectionPolicy", "SNS:SetSubscriptionAttributes", "SNS:TagResource",
		"SNS:Unsubscribe",
		"SNS:UntagResource",
	}, service.Convert(unsupported, func(name string) string { return "SNS:" + name })),
	OwnerOnly: append([]string{
		"SNS:CreateTopic", "SNS:ListSubscriptions", "SNS:ListTopics", "SNS:TagResource", "SNS:UntagResource",
	}, slices.Concat(ofAccount, ofPlatforms)...),
	Unscoped: append([]string{
		"SNS:GetSubscriptionAttributes", "SNS:ListSubscriptions", "SNS:ListTopics", "SNS:SetSubscriptionAttributes",
		"SNS:Unsubscribe",
	}, ofAccount...),
	Repair: []string{"SNS:DeleteTopic", "SNS:GetTopicAttributes", "SNS:RemovePermission", "SNS:SetTopicAttributes"},
	Limits: policy.Limits{Bytes: 30 << 10, Statements: 100, Principals: 200, Conditions: 100, Actions: 50},
}

// shared are the actions that the policy of a topic can grant. Receive is an old one without an operation: AWS's
// default policies had it, and tools still write it.
var shared = []string{
	"SNS:AddPermission", "SNS:DeleteTopic", "SNS:GetTopicAttributes", "SNS:ListSubscriptionsByTopic",
	"SNS:ListTagsForResource", "SNS:Publish", "SNS:Receive", "SNS:RemovePermission", "SNS:SetTopicAttributes",
	"SNS:Subscribe",
}

// topicRules are Rules for a policy that is set on a topic, which can grant only the shared actions. AWS also accepts
// those about data protection.
var topicRules = &policy.Rules{
	Vendor:  Rules.Vendor,
	Actions: append(slices.Clone(shared), "SNS:GetDataProtectionPolicy", "SNS:PutDataProtectionPolicy"),
	Limits:  Rules.Limits,
}

// resource is the topic that a request names: its name and, if it exists, its record.
type resource struct {
	name  topic.Name
	topic *topic.Topic
}

// ARN returns the name of the resource for policies and refusals.
func (r *resource) ARN() string {
	n := r.name
	n.Topic = service.Shorten(n.Topic)
	return n.ARN()
}

// about returns the facts about a request on r for policies.
func (r *resource) about() service.Subject {
	s := service.Subject{Resource: r, Owner: r.name.Account}
	if t := r.topic; t != nil {
		s.Policy, s.PolicyIDs, s.Tags = t.Attributes.Policy, t.Attributes.PolicyIDs, t.Tags
	}
	return s
}

// authorize returns nil if the caller may take all of the actions.
func (s *core) authorize(c *protocol.Call, about service.Subject, actions ...string) error {
	return refusal(s.authorizer.Authorize(c, about, actions...))
}

// topicNamed returns the name in a TopicArn, which member is called in the model.
func topicNamed(c *protocol.Call, member string, arn *string) (topic.Name, error) {
	if arn == nil {
		return topic.Name{}, errParameter("%s Reason: no value for required parameter", member)
	}
	n, err := topic.ParseARN(*arn)
	if err != nil {
		return topic.Name{}, errARN(member, err)
	}
	return n, sameRegion(c, member, n)
}

// sameRegion refuses a topic in another region than the request's: each region is a separate service. An unsigned
// request, from a link in a message, names no region.
func sameRegion(c *protocol.Call, member string, n topic.Name) error {
	if n.Region == c.Region || service.Anonymous(c) {
		return nil
	}
	return errParameter("%s", member)
}

// errARN refuses an ARN in SNS's words.
func errARN(member string, why error) *protocol.Error {
	if errors.Is(why, topic.ErrNotTopic) {
		return errParameter("%s", member)
	}
	return errParameter("%s Reason: %s", member, why)
}

// find returns the topic that a request names, if it exists and the caller may take the action on it. An operation
// finds its topic before it reveals or changes anything about it, so that an unauthorized caller gets the same answer
// whether or not the topic exists.
func (s *core) find(c *protocol.Call, arn *string, action string) (*topic.Topic, error) {
	return s.findFor(c, arn, action, func(*service.Subject) {})
}

// findFor is find for a request about which policies can ask more; add provides that.
func (s *core) findFor(c *protocol.Call, arn *string, action string, add func(*service.Subject)) (*topic.Topic, error) {
	n, err := topicNamed(c, "TopicArn", arn)
	if err != nil {
		return nil, err
	}
	return s.findNamed(c, n, action, add)
}

func (s *core) findNamed(
	c *protocol.Call, n topic.Name, action string, add func(*service.Subject),
) (*topic.Topic, error) {
	r := resource{n, s.topics.Find(n)}
	c.Notes.Set(noteTopic, r.ARN())
	about := r.about()
	add(&about)
	if err := s.authorize(c, about, action); err != nil {
		return nil, err
	}
	if r.topic == nil {
		return nil, errNoTopic()
	}
	return r.topic, nil
}

// findSubscription returns the subscription that a request names, if it exists and the caller may take the action on
// it. The accounts of the subscription and of its topic may; other accounts get the same error whether or not it
// exists.
func (s *core) findSubscription(c *protocol.Call, arn *string, action string) (*topic.Subscription, error) {
	n, sub, err := s.subscriptionNamed(c, arn)
	if err != nil {
		return nil, err
	}
	about := service.Subject{Resource: service.ARN(service.Shorten(*arn)), Owner: n.Account}
	if sub != nil && sub.Owner == service.Caller(c).Account {
		about.Owner = sub.Owner
	}
	if err := s.authorize(c, about, action); err != nil {
		return nil, err
	}
	if sub == nil {
		return nil, errNoSubscription()
	}
	return sub, nil
}

// subscriptionNamed returns the topic that a SubscriptionArn names and the subscription, or nil if it does not exist.
func (s *core) subscriptionNamed(c *protocol.Call, arn *string) (topic.Name, *topic.Subscription, error) {
	if arn == nil {
		return topic.Name{}, nil, errParameter("SubscriptionArn Reason: no value for required parameter")
	}
	text := *arn
	if _, err := topic.ParseARN(text); err == nil { // it ends where the id should stand
		return topic.Name{}, nil, errParameter("SubscriptionId")
	}
	n, id, err := topic.ParseSubscriptionARN(text)
	if err != nil {
		return n, nil, errARN("SubscriptionArn", err)
	}
	if err := sameRegion(c, "SubscriptionArn", n); err != nil {
		return n, nil, err
	}
	c.Notes.Set(noteSubscription, service.Shorten(text))
	sub := s.topics.Subscription(id)
	if sub != nil && sub.Topic != n {
		sub = nil
	}
	return n, sub, nil
}
