package sqs

import (
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// Rules are what SQS adds to the language of policies. A batch asks for the
// action of its entries.
var Rules = &policy.Rules{
	Vendor: "sqs",
	Actions: []string{
		"sqs:AddPermission", "sqs:CancelMessageMoveTask", "sqs:ChangeMessageVisibility", "sqs:CreateQueue", "sqs:DeleteMessage",
		"sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:GetQueueUrl", "sqs:ListDeadLetterSourceQueues", "sqs:ListMessageMoveTasks",
		"sqs:ListQueueTags", "sqs:ListQueues", "sqs:PurgeQueue", "sqs:ReceiveMessage", "sqs:RemovePermission", "sqs:SendMessage",
		"sqs:SetQueueAttributes", "sqs:StartMessageMoveTask", "sqs:TagQueue", "sqs:UntagQueue",
	},
	OwnerOnly: []string{
		"sqs:AddPermission", "sqs:CancelMessageMoveTask", "sqs:CreateQueue", "sqs:DeleteQueue", "sqs:ListMessageMoveTasks",
		"sqs:ListQueueTags", "sqs:ListQueues", "sqs:RemovePermission", "sqs:SetQueueAttributes", "sqs:StartMessageMoveTask",
		"sqs:TagQueue", "sqs:UntagQueue",
	},
	Unscoped:  []string{"sqs:ListQueues"},
	Repair:    []string{"sqs:DeleteQueue", "sqs:GetQueueAttributes", "sqs:RemovePermission", "sqs:SetQueueAttributes"},
	LowerCase: true,
}

// resource is what a request is about: a queue's name, and the queue if there
// is one.
type resource struct {
	name  catalog.Name
	queue *catalog.Queue
}

// tagging is what a request wants to do with tags, which conditions can ask for.
type tagging struct {
	set    map[string]string
	remove []string
}

// fault returns why the tags cannot be those of a queue called name, or nil. It says
// nothing about the queue, and is looked for before policies compare the tags.
func (t *tagging) fault(name string) *protocol.Error {
	if err := checkTags(t.set); err != nil {
		return err
	}
	if len(t.set) > maxTags {
		return errTooManyTags(name)
	}
	for _, key := range t.remove {
		if err := checkTagKey(key); err != nil {
			return err
		}
	}
	return nil
}

// resolve looks up what a request is about. fault is what is wrong with the request
// whatever there is and whoever asks: its name cannot be that of a queue, or its tags
// are none. Those who have not said who they are are not told: nobody can have
// let them to it.
func (s *Service) resolve(c *protocol.Call, n catalog.Name, fault *protocol.Error) (resource, error) {
	switch {
	case n.Account == "" && service.Anonymous(c), fault != nil && service.Anonymous(c):
		return resource{}, service.Denied(c)
	case fault != nil:
		return resource{}, fault
	}
	return resource{name: n, queue: s.catalog.Find(n)}, nil
}

// authorize makes sure that the caller may take all of the actions on r. It is
// asked before anything about r is said or done, so that those who may not get
// the same answer for a queue that exists and for one that does not.
func (s *Service) authorize(c *protocol.Call, r resource, tags tagging, actions ...string) error {
	about := service.Subject{Resource: &r, Owner: r.name.Account, NewTags: tags.set, TagKeys: tags.remove}
	if q := r.queue; q != nil {
		about.Policy, about.PolicyIDs, about.Tags = q.Attributes.Policy, q.Attributes.PolicyIDs, q.Tags
	}
	return s.authorizer.Authorize(c, about, actions...)
}

// ARN returns the name of the resource for policies and refusals.
func (r *resource) ARN() string {
	n := r.name
	n.Queue = service.Shorten(n.Queue)
	return n.ARN()
}

// admit finds what the request is about and makes sure that the caller may take
// the actions on it. The queue is nil if there is none.
func (s *Service) admit(c *protocol.Call, n catalog.Name, fault *protocol.Error, actions ...string) (*catalog.Queue, error) {
	r, err := s.resolve(c, n, fault)
	if err != nil {
		return nil, err
	}
	return r.queue, s.authorize(c, r, tagging{}, actions...)
}

// queue finds the queue that a QueueUrl is about and makes sure that the caller
// may take the action on it.
func (s *Service) queue(c *protocol.Call, url, action string) (*catalog.Queue, error) {
	return s.queueForTags(c, url, tagging{}, action)
}

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

// sender is who a message is from, as SenderId shows it: the unique id of the
// caller or, of somebody who has not signed, the address.
func sender(c *protocol.Call) string {
	if service.Anonymous(c) {
		return c.SourceIP
	}
	return service.Caller(c).UserID
}
