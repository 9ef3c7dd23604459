package sns

import (
	"errors"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/catalog"
	"github.com/sluicemq/sluice/internal/topic"
)

// gate decides which queues get messages of a topic.
type gate struct {
	queues   *catalog.Catalog
	access   *access.Decider
	rules    *policy.Rules // of the service with the queues
	checkKey func(name string) error
	now      func() time.Time
}

// queueFor returns a queue by its ARN, if it exists and its policy lets the topic send to it.
func (s *gate) queueFor(t *topic.Topic, arn string) (*catalog.Queue, error) {
	n, ok := service.ParseQueueARN(arn)
	if !ok {
		return nil, errors.New("it is not the ARN of a queue") // only ARNs of queues are stored
	}
	q := s.queues.Find(n)
	if q == nil {
		return nil, errors.New("the queue " + arn + " does not exist")
	}
	r := access.Request{
		Caller: identity.Identity{Caller: policy.Caller{Kind: policy.Service, Service: principal}}, Rules: s.rules,
		Action: "sqs:SendMessage", Owner: n.Account, Policy: q.Attributes.Policy, PolicyIDs: q.Attributes.PolicyIDs,
		Details: &sending{arn: arn, topic: t, tags: q.Tags, now: s.now},
	}
	if err := s.access.Decide(&r); err != nil {
		return nil, err
	}
	if key, _, on := q.Encryption(); on {
		if err := s.checkKey(key); err != nil {
			return nil, fmt.Errorf("the queue %s is encrypted under %s: %w", arn, key, err)
		}
	}
	return q, nil
}

// sending holds the facts about a message from a topic for the policy of a queue.
type sending struct {
	arn   string // of the queue
	topic *topic.Topic
	tags  map[string]string
	now   func() time.Time
}

// ARN implements access.Details.
func (d *sending) ARN() string { return d.arn }

// Facts implements access.Details. The message does not leave the server, so it cannot be intercepted.
func (d *sending) Facts() policy.Facts {
	n := d.topic.Name
	return policy.Facts{
		Time: d.now(), SecureTransport: true, Region: n.Region, SourceARN: n.ARN(), SourceAccount: n.Account,
		ResourceTags: d.tags,
	}
}
