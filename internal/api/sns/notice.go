package sns

import (
	"context"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// Notice is a message that another service of this server publishes, such as the notification of an alarm.
type Notice struct {
	Service string // in the form of policies: cloudwatch.amazonaws.com
	Source  string // ARN of the message's subject, for aws:SourceArn
	Account string // that owns it, for aws:SourceAccount and aws:SourceOwner
	Topic   string // ARN
	Subject string
	Message string
	// ID is the same when a notice is published again: a FIFO topic then drops it. Empty: the message tells.
	ID string
}

// PublishNotice publishes a notice and returns its message id, if the policy of the topic lets the service publish for
// that account. The default policy lets every service publish for the account that owns the topic. The error addresses
// the owner of the source, and holds a *protocol.Error.
func (s *publisher) PublishNotice(ctx context.Context, n Notice) (id string, err error) {
	t, err := s.noticed(&n)
	if err != nil {
		return "", err
	}
	m := message{Message: &n.Message}
	if n.Subject != "" {
		m.Subject = &n.Subject
	}
	if t.Name.FIFO() {
		m.MessageGroupId = &n.Account
		if n.ID != "" {
			m.MessageDeduplicationId = &n.ID
		}
	}
	o, err := m.check(new(protocol.Call), t, "")
	if err != nil {
		return "", err
	}
	published, err := s.send(ctx, nil, []*outbound{o})
	if err != nil {
		return "", err
	}
	return published[0].ID.String(), nil
}

// MayPublish returns nil if PublishNotice would accept a notice.
func (s *publisher) MayPublish(n Notice) error {
	_, err := s.noticed(&n)
	return err
}

// noticed returns the topic of a notice, if its policy lets the service publish.
func (s *publisher) noticed(n *Notice) (*topic.Topic, error) {
	name, err := topic.ParseARN(n.Topic)
	if err != nil {
		return nil, errARN("TopicArn", err)
	}
	t := s.topics.Find(name)
	if t == nil {
		return nil, errNoTopic()
	}
	allowed := access.Request{
		Caller: identity.Identity{Caller: policy.Caller{Kind: policy.Service, Service: n.Service}}, Rules: Rules,
		Action: "SNS:Publish",
		Owner:  name.Account, Policy: effectivePolicy(t), PolicyIDs: t.Attributes.PolicyIDs,
		Details: &noticeDetails{s, t, n},
	}
	if err := s.access.Decide(&allowed); err != nil {
		return nil, refusal(err)
	}
	return t, nil
}

// noticeDetails holds the facts about a notice for the policy of a topic.
type noticeDetails struct {
	*publisher
	topic  *topic.Topic
	notice *Notice
}

// ARN implements access.Details.
func (d *noticeDetails) ARN() string { return d.topic.Name.ARN() }

// Facts implements access.Details.
func (d *noticeDetails) Facts() policy.Facts {
	return policy.Facts{
		Time: d.now(), SecureTransport: true, Region: d.topic.Name.Region, ResourceTags: d.topic.Tags,
		SourceARN: d.notice.Source, SourceAccount: d.notice.Account,
	}
}
