package sqs

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

type createQueueInput struct {
	QueueName  *string           `max:"256"`
	Attributes map[string]string `query:"Attribute" entry:"Name,Value" max:"100,256,64K"`
	Tags       map[string]string `json:"tags" query:"Tag,Tags" entry:"Key,Value" max:"200,512,1024"`
	// DefaultVisibilityTimeout is how the API versions before 2011-10-01
	// spelt the attribute VisibilityTimeout.
	DefaultVisibilityTimeout *string `json:"-" query:"DefaultVisibilityTimeout" max:"64"`
}

type queueURLOutput struct {
	QueueUrl string
}

func (s *Service) createQueue(_ context.Context, c *protocol.Call, in *createQueueInput) (*queueURLOutput, error) {
	n := catalog.Name{Account: service.Caller(c).Account, Region: c.Region}
	if in.QueueName != nil {
		n.Queue = *in.QueueName
	}
	noteName(c, noteQueue, n)
	tags := tagging{set: in.Tags}
	r, err := s.resolve(c, n, tags.fault(n.Queue))
	if err != nil {
		return nil, err
	}
	if err := s.authorize(c, r, tags, createActions(in)...); err != nil {
		return nil, err
	}
	if in.DefaultVisibilityTimeout != nil {
		in.Attributes = maps.Clone(in.Attributes)
		if in.Attributes == nil {
			in.Attributes = make(map[string]string)
		}
		if _, set := in.Attributes[attrVisibility]; !set {
			in.Attributes[attrVisibility] = *in.DefaultVisibilityTimeout
		}
	}
	fifo := strings.EqualFold(in.Attributes[attrFIFO], "true")
	if err := checkQueueName(in.QueueName, fifo); err != nil {
		return nil, err
	}
	created, err := s.createRecord(n, in)
	if err != nil {
		return nil, err
	}
	if created != nil {
		s.reportSpread(created, true)
	}
	return &queueURLOutput{QueueUrl: s.url(c, n)}, nil
}

// createActions are what the creator of a queue has to be allowed to do.
func createActions(in *createQueueInput) []string {
	if len(in.Tags) > 0 {
		return []string{"sqs:CreateQueue", "sqs:TagQueue"}
	}
	return []string{"sqs:CreateQueue"}
}

// sameQueue returns nil if a queue that exists is as the request to create it says.
func (s *Service) sameQueue(q *catalog.Queue, in *createQueueInput) error {
	wanted := q.Attributes
	if err := s.change(q.Name, &wanted, in.Attributes).setAll(); err != nil {
		return err
	}
	have, want := format(&q.Attributes), format(&wanted)
	for _, name := range slices.Sorted(maps.Keys(in.Attributes)) {
		if have[name] != want[name] {
			return errQueueExists("attribute " + name)
		}
	}
	if len(in.Tags) > 0 && !maps.Equal(in.Tags, q.Tags) {
		return errQueueExists("tags")
	}
	return nil
}

func checkQueueName(name *string, fifo bool) error {
	switch {
	case name == nil:
		return protocol.InvalidParameterValue("Value for parameter QueueName is invalid. Reason: Must specify a queue name.")
	case *name == "":
		return protocol.InvalidParameterValue("Queue name cannot be empty")
	case fifo:
		base, ok := strings.CutSuffix(*name, fifoSuffix)
		if !ok || !validName(base, maxNameLength-len(fifoSuffix)) {
			return protocol.InvalidParameterValue("The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.")
		}
	case !validName(*name, maxNameLength):
		return protocol.InvalidParameterValue("Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length")
	}
	return nil
}

type getQueueURLInput struct {
	QueueName              *string `max:"256"`
	QueueOwnerAWSAccountId string  `max:"64"`
}

func (s *Service) getQueueURL(_ context.Context, c *protocol.Call, in *getQueueURLInput) (*queueURLOutput, error) {
	n, fault := in.target(c)
	noteName(c, noteQueue, n)
	q, err := s.allowByName(c, n, fault, "sqs:GetQueueUrl")
	switch {
	case err != nil && fault == nil && !service.Anonymous(c) && n.Account != service.Caller(c).Account:
		return nil, errors.Join(errNoQueueOrAccess(), err)
	case err != nil:
		return nil, err
	case q == nil:
		s.noteOtherRegions(c, n)
		return nil, errNoQueue()
	}
	return &queueURLOutput{QueueUrl: s.url(c, q.Name)}, nil
}

// target returns the name of the queue that the request is about.
func (in *getQueueURLInput) target(c *protocol.Call) (catalog.Name, error) {
	n := catalog.Name{Account: service.Caller(c).Account, Region: c.Region}
	if in.QueueName == nil || *in.QueueName == "" {
		return n, protocol.InvalidParameterValue("Value for parameter QueueName is invalid. Reason: Must specify a queue name.")
	}
	n.Queue = *in.QueueName
	if owner := in.QueueOwnerAWSAccountId; owner != "" {
		if !identity.IsAccount(owner) {
			return n, errValue(owner, "QueueOwnerAWSAccountId", "Must be an account number of 12 digits.")
		}
		n.Account = owner
	}
	return n, nil
}

type queueInput struct {
	QueueUrl string `max:"2048"`
}

func (s *Service) deleteQueue(_ context.Context, c *protocol.Call, in *queueInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:DeleteQueue")
	if err != nil {
		return nil, err
	}
	return nil, s.deleteRecord(q)
}

func (s *Service) purgeQueue(ctx context.Context, c *protocol.Call, in *queueInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:PurgeQueue")
	if err != nil {
		return nil, err
	}
	return nil, failure(s.shard.Purge(ctx, q.ID), q)
}

type getQueueAttributesInput struct {
	QueueUrl       string   `max:"2048"`
	AttributeNames []string `query:"AttributeName" max:"100,256"`
}

type getQueueAttributesOutput struct {
	Attributes map[string]string `query:"Attribute" entry:"Name,Value"`
}

func (s *Service) getQueueAttributes(ctx context.Context, c *protocol.Call, in *getQueueAttributesInput) (*getQueueAttributesOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:GetQueueAttributes")
	if err != nil {
		return nil, err
	}
	wanted := make(map[string]bool, len(in.AttributeNames))
	for _, name := range in.AttributeNames {
		name = strings.TrimSuffix(name, ";") // as the guide's example has it
		if !isAttribute(name) {
			return nil, errUnknownAttribute(service.Shorten(name))
		}
		wanted[name] = true
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	all := format(&q.Attributes)
	if service.Caller(c).Account != q.Name.Account { // only the owner's account may read the policy
		if wanted[attrPolicy] {
			return nil, errPolicyOfOther(c, q)
		}
		delete(all, attrPolicy)
	}
	all[attrARN] = q.Name.ARN()
	all[attrCreated] = strconv.FormatInt(q.Created.Unix(), 10)
	all[attrModified] = strconv.FormatInt(q.Modified.Unix(), 10)
	if wanted[attrAll] || wanted[attrVisible] || wanted[attrNotVisible] || wanted[attrDelayed] {
		counts, err := s.shard.Counts(ctx, q.ID)
		if err != nil {
			return nil, failure(err, q)
		}
		all[attrVisible] = strconv.FormatUint(counts.Visible, 10)
		all[attrNotVisible] = strconv.FormatUint(counts.InFlight, 10)
		all[attrDelayed] = strconv.FormatUint(counts.Delayed, 10)
	}
	if !wanted[attrAll] {
		maps.DeleteFunc(all, func(name, _ string) bool { return !wanted[name] })
	}
	return &getQueueAttributesOutput{Attributes: all}, nil
}

// errPolicyOfOther refuses the policy of a queue to a caller of another account.
func errPolicyOfOther(c *protocol.Call, q *catalog.Queue) *protocol.Error {
	who := service.Caller(c).ARN
	if service.Anonymous(c) {
		who = "anonymous"
	}
	return protocol.AccessDenied("User: %s is not authorized to perform: sqs:getqueueattributes on resource: %s because the attribute Policy is shown to the queue's owner only",
		who, q.Name.ARN())
}

type setQueueAttributesInput struct {
	QueueUrl   string            `max:"2048"`
	Attributes map[string]string `query:"Attribute" entry:"Name,Value" max:"100,256,64K"`
}

func (s *Service) setQueueAttributes(_ context.Context, c *protocol.Call, in *setQueueAttributesInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:SetQueueAttributes")
	if err != nil {
		return nil, err
	}
	if len(in.Attributes) == 0 {
		return nil, protocol.MissingParameter("Attribute.Name")
	}
	return nil, s.updateAttributes(q, func(q *catalog.Queue) error {
		if err := s.change(q.Name, &q.Attributes, in.Attributes).apply(); err != nil {
			return err
		}
		return checkSpread(q)
	})
}
