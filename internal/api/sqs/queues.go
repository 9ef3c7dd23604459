package sqs

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

type createQueueInput struct {
	QueueName  *string           `max:"256"`
	Attributes map[string]string `max:"100,256,64K"  query:"Attribute"                entry:"Name,Value"`
	Tags       map[string]string `max:"200,512,1024" query:"Tag,Tags"                 entry:"Key,Value"  json:"tags"`
	// DefaultVisibilityTimeout is how the API versions before 2011-10-01
	// spelt the attribute VisibilityTimeout.
	DefaultVisibilityTimeout *string `max:"64"           query:"DefaultVisibilityTimeout"                    json:"-"`
}

type queueURLOutput struct {
	QueueUrl string
}

func (s *Service) createQueue(ctx context.Context, c *protocol.Call, in *createQueueInput) (*queueURLOutput, error) {
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
	created, err := s.records.create(ctx, n, in)
	if err != nil {
		return nil, err
	}
	if created != nil {
		s.records.reportSpread(created, true)
	}
	return &queueURLOutput{QueueUrl: s.url(c, n)}, nil
}

// createActions are the actions that the creator of a queue needs permission for.
func createActions(in *createQueueInput) []string {
	if len(in.Tags) > 0 {
		return []string{"sqs:CreateQueue", "sqs:TagQueue"}
	}
	return []string{"sqs:CreateQueue"}
}

func checkQueueName(name *string, fifo bool) error {
	switch {
	case name == nil:
		return protocol.InvalidParameterValue("Value for parameter QueueName is invalid. Reason: Must specify a queue name.")
	case *name == "":
		return protocol.InvalidParameterValue("Queue name cannot be empty")
	case fifo:
		base, ok := strings.CutSuffix(*name, service.FIFOSuffix)
		if !ok || !service.ValidName(base, service.MaxQueueName-len(service.FIFOSuffix)) {
			return protocol.InvalidParameterValue(
				"The name of a FIFO queue can only include alphanumeric characters, hyphens, or underscores, must end with .fifo suffix and be 1 to 80 in length.",
			)
		}
	case !service.ValidName(*name, service.MaxQueueName):
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

func (s *Service) deleteQueue(ctx context.Context, c *protocol.Call, in *queueInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:DeleteQueue")
	if err != nil {
		return nil, err
	}
	return nil, s.records.remove(ctx, q)
}

func (s *Service) purgeQueue(ctx context.Context, c *protocol.Call, in *queueInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:PurgeQueue")
	if err != nil {
		return nil, err
	}
	return nil, failure(s.shard.Purge(ctx, q.ID), q)
}
