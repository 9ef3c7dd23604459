package sqs

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// maxListed is the maximum number of queues in one answer.
const maxListed = 1000

type listQueuesInput struct {
	QueueNamePrefix string `max:"256"`
	MaxResults      *int32
	NextToken       string `max:"4096"`
}

type listQueuesOutput struct {
	QueueUrls []string `query:"QueueUrl" wrapper:"queueUrls"`
	NextToken string   `                                     json:",omitempty"`
}

func (s *Service) listQueues(_ context.Context, c *protocol.Call, in *listQueuesInput) (*listQueuesOutput, error) {
	account := service.Caller(c).Account
	if _, err := s.allowByName(c, catalog.Name{Account: account, Region: c.Region}, nil, "sqs:ListQueues"); err != nil {
		return nil, err
	}
	read := func(after string, most int) []*catalog.Queue {
		return s.catalog.Page(account, c.Region, in.QueueNamePrefix, after, most)
	}
	urls, next, err := s.page(c, read, in.MaxResults, in.NextToken, in.QueueNamePrefix)
	if err != nil {
		return nil, err
	}
	return &listQueuesOutput{QueueUrls: urls, NextToken: next}, nil
}

type listDeadLetterSourceQueuesInput struct {
	QueueUrl   string `max:"2048"`
	MaxResults *int32
	NextToken  string `max:"4096"`
}

type listDeadLetterSourceQueuesOutput struct {
	QueueUrls []string `json:"queueUrls"  query:"QueueUrl"`
	NextToken string   `json:",omitempty"`
}

func (s *Service) listDeadLetterSourceQueues(
	_ context.Context,
	c *protocol.Call,
	in *listDeadLetterSourceQueuesInput,
) (*listDeadLetterSourceQueuesOutput, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:ListDeadLetterSourceQueues")
	if err != nil {
		return nil, err
	}
	read := func(after string, most int) []*catalog.Queue { return s.catalog.SourcesPage(q, after, most) }
	urls, next, err := s.page(c, read, in.MaxResults, in.NextToken, q.Name.Queue)
	if err != nil {
		return nil, err
	}
	return &listDeadLetterSourceQueuesOutput{QueueUrls: urls, NextToken: next}, nil
}

// page returns the URLs of the requested page of a sorted list; see service.Seek. Only a client that sets a limit gets
// a token for the next page.
func (s *Service) page(
	c *protocol.Call,
	read func(after string, most int) []*catalog.Queue,
	limit *int32,
	token, about string,
) (urls []string, next string, err error) {
	most := maxListed
	switch {
	case limit != nil:
		if most = int(*limit); most < 1 || most > maxListed {
			return nil, "", errValue(most, "MaxResults", "Must be between 1 and 1000, if provided.")
		}
	case token != "":
		return nil, "", protocol.InvalidParameterValue("MaxResults is a mandatory parameter when you provide a value for NextToken.")
	}
	p, err := service.Seek(read, func(q *catalog.Queue) string { return q.Name.Queue }, token, about, most)
	switch {
	case errors.Is(err, service.ErrOtherList):
		return nil, "", protocol.InvalidParameterValue(
			"Invalid NextToken value. If you are passing in NextToken, you must not change the other request parameters.",
		)
	case err != nil:
		return nil, "", protocol.InvalidParameterValue("Invalid or expired next token.")
	}
	if limit != nil {
		next = p.Next
	}
	return service.Convert(p.Items, func(q *catalog.Queue) string { return s.url(c, q.Name) }), next, nil
}
