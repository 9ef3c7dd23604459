package sqs

import (
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// Rules are SQS's rules for policies. A batch requires permission for the action of its entries.
var Rules = &policy.Rules{
	Vendor: "sqs",
	Actions: []string{
		"sqs:AddPermission", "sqs:CancelMessageMoveTask", "sqs:ChangeMessageVisibility", "sqs:CreateQueue",
		"sqs:DeleteMessage",
		"sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues",
		"sqs:ListMessageMoveTasks",
		"sqs:ListQueueTags", "sqs:ListQueues", "sqs:PurgeQueue", "sqs:ReceiveMessage", "sqs:RemovePermission",
		"sqs:SendMessage",
		"sqs:SetQueueAttributes", "sqs:StartMessageMoveTask", "sqs:TagQueue", "sqs:UntagQueue",
	},
	OwnerOnly: []string{
		"sqs:AddPermission", "sqs:CancelMessageMoveTask", "sqs:CreateQueue", "sqs:DeleteQueue",
		"sqs:ListMessageMoveTasks",
		"sqs:ListQueueTags", "sqs:ListQueues", "sqs:RemovePermission", "sqs:SetQueueAttributes",
		"sqs:StartMessageMoveTask",
		"sqs:TagQueue", "sqs:UntagQueue",
	},
	Unscoped:  []string{"sqs:ListQueues"},
	Repair:    []string{"sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:RemovePermission", "sqs:SetQueueAttributes"},
	LowerCase: true,
}

// resource is the queue that a request names: its name and, if it exists, its record.
type resource struct {
	name  catalog.Name
	queue *catalog.Queue
}

// ARN returns the name of the resource for policies and refusals.
func (r *resource) ARN() string {
	n := r.name
	n.Queue = service.Shorten(n.Queue)
	return n.ARN()
}

// resolve looks up the queue that a request names. fault is a mistake in the request itself, which no queue could
// accept: the name cannot be a queue's, or the tags are invalid. An anonymous caller does not learn the fault but is
// denied, because there is no queue whose policy could allow the request.
func (s *Service) resolve(c *protocol.Call, n catalog.Name, fault error) (resource, error) {
	switch {
	case service.Anonymous(c) && (n.Account == "" || fault != nil):
		return resource{}, service.Denied(c)
	case fault != nil:
		return resource{}, fault
	}
	return resource{name: n, queue: s.catalog.Find(n)}, nil
}

// authorize returns nil if the caller may take all of the actions on r. An operation calls it before it reveals or
// changes anything about r, so an unauthorized caller gets the same answer whether or not the queue exists.
func (s *Service) authorize(c *protocol.Call, r resource, tags tagging, actions ...string) error {
	about := service.Subject{Resource: &r, Owner: r.name.Account, NewTags: tags.set, TagKeys: tags.remove}
	if q := r.queue; q != nil {
		about.Policy, about.PolicyIDs, about.Tags = q.Attributes.Policy, q.Attributes.PolicyIDs, q.Tags
	}
	return s.authorizer.Authorize(c, about, actions...)
}

// allowByName returns the queue called n, if the caller may take the actions on it. The
// queue is nil if it does not exist.
func (s *Service) allowByName(
	c *protocol.Call, n catalog.Name, fault error, actions ...string,
) (*catalog.Queue, error) {
	r, err := s.resolve(c, n, fault)
	if err != nil {
		return nil, err
	}
	return r.queue, s.authorize(c, r, tagging{}, actions...)
}

// queue returns the queue that a QueueUrl names, if it exists and the caller may take
// the action on it.
func (s *Service) queue(c *protocol.Call, url, action string) (*catalog.Queue, error) {
	return s.queueForTags(c, url, tagging{}, action)
}

// queueForTags is queue for a request that changes tags.
func (s *Service) queueForTags(c *protocol.Call, url string, tags tagging, action string) (*catalog.Queue, error) {
	n, fault := target(c, url)
	noteName(c, noteQueue, n)
	if fault == nil {
		fault = tags.fault(n.Queue)
	}
	r, err := s.resolve(c, n, fault)
	if err != nil {
		return nil, err
	}
	if err := s.authorize(c, r, tags, action); err != nil {
		return nil, err
	}
	if r.queue != nil {
		return r.queue, nil
	}
	s.noteOtherRegions(c, n)
	if elsewhere(url, c.Region) {
		return nil, errAddress(url)
	}
	return nil, errNoQueue()
}

// useKey returns nil if the caller may take actions with the encryption key of a queue.
func (s *Service) useKey(c *protocol.Call, q *catalog.Queue, actions []string) error {
	err := s.keys.Authorize(c, q.Name.Account, q.Name.Region, q.Attributes.KMSKey, actions)
	if denial, ok := errors.AsType[*access.Denial](err); ok {
		return errors.Join(
			service.Modelled("KmsAccessDenied", "KMS.AccessDeniedException", 400, "%s", denial.Error()), denial,
		)
	}
	return err
}

// sender returns the SenderId of a message: the unique id of the caller, or the address of an anonymous one.
func sender(c *protocol.Call) string {
	if service.Anonymous(c) {
		return c.SourceIP
	}
	return service.Caller(c).UserID
}
