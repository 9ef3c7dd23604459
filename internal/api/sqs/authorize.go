package sqs

import (
	"errors"
	"net/netip"
	"time"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/identity"
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

// caller returns who makes the call.
func caller(c *protocol.Call) identity.Identity {
	id, _ := c.Identity.(identity.Identity)
	return id
}

// anonymous reports whether nobody has signed the request.
func anonymous(c *protocol.Call) bool { return caller(c).ARN == "" }

// Denied is what a caller is told who has not said who it is, and whose request
// does not get as far as naming something that everybody could be let to.
func Denied(c *protocol.Call) *protocol.Error {
	return protocol.AccessDenied("Access to the resource %s is denied.", shorten(c.Scheme+"://"+c.Host+c.Path))
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

// resolve looks up what a request is about. fault is why its name cannot be that
// of a queue. Those who have not said who they are are not told: nobody can have
// let them to it.
func (s *Service) resolve(c *protocol.Call, n catalog.Name, fault *protocol.Error) (resource, error) {
	switch {
	case n.Account == "" && anonymous(c), fault != nil && anonymous(c):
		return resource{}, Denied(c)
	case fault != nil:
		return resource{}, fault
	}
	return resource{name: n, queue: s.catalog.Find(n)}, nil
}

// authorize makes sure that the caller may take all of the actions on r. It is
// asked before anything about r is said or done, so that those who may not get
// the same answer for a queue that exists and for one that does not.
func (s *Service) authorize(c *protocol.Call, r resource, tags tagging, actions ...string) error {
	d := details{call: c, resource: r, tagging: tags, now: s.now}
	q := access.Request{Caller: caller(c), Rules: Rules, Owner: r.name.Account, Details: &d}
	if r.queue != nil {
		q.Policy, q.PolicyIDs = r.queue.Attributes.Policy, r.queue.Attributes.PolicyIDs
	}
	for _, q.Action = range actions {
		if denial := s.access.Decide(&q); denial != nil {
			return errors.Join(protocol.AccessDenied("%s", denial.Error()), denial)
		}
	}
	return nil
}

// details tells what policies ask about a request.
type details struct {
	call *protocol.Call
	resource
	tagging
	now func() time.Time
}

// ARN returns the name of the resource for policies and refusals.
func (d *details) ARN() string {
	n := d.name
	n.Queue = shorten(n.Queue)
	return n.ARN()
}

// Facts returns what conditions can ask about the request.
func (d *details) Facts() policy.Facts {
	f := policy.Facts{
		Time: d.now(), SecureTransport: d.call.TLS, UserAgent: d.call.UserAgent, Region: d.call.Region,
		RequestTags: d.set, TagKeys: d.remove,
	}
	f.SourceIP, _ = netip.ParseAddr(d.call.SourceIP) // without one, the fact is absent
	if d.queue != nil {
		f.ResourceTags = d.queue.Tags
	}
	return f
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
	if anonymous(c) {
		return c.SourceIP
	}
	return caller(c).UserID
}
