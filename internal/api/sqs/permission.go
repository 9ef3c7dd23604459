package sqs

import (
	"context"
	"errors"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/catalog"
)

// setPolicy sets the policy of a queue. It refuses an invalid policy, and one that names a user or role that does not
// exist; the empty string removes the policy.
//
// The users and roles are bound to their unique ids; see service.Bind.
func (c *attributeChange) setPolicy(value string) error {
	old := c.attrs.PolicyIDs
	c.attrs.Policy, c.attrs.PolicyIDs = value, ""
	if value == "" {
		return nil
	}
	p, err := policy.ParseResource(value, Rules)
	if err != nil {
		return policyError(err)
	}
	ids, unknown := service.Bind(p, old, c.idOf)
	if unknown != "" {
		return errAttributeValue(attrPolicy, "The principal "+service.Shorten(unknown)+" does not exist.")
	}
	c.attrs.PolicyIDs = ids
	service.WarnOfPolicy(c.log, p, c.name.ARN(), nil) // actions were checked
	return nil
}

// policyError translates the errors of package policy. It returns other errors unchanged.
func policyError(err error) error {
	e, ok := errors.AsType[*policy.Error](err)
	if !ok {
		return err
	}
	switch e.Fault {
	case policy.OverLimit:
		return errOverLimit("%s", e.Reason)
	case policy.MissingParameter:
		return protocol.MissingParameter(e.Reason)
	case policy.InvalidParameter:
		return protocol.InvalidParameterValue("%s", e.Reason)
	}
	return errAttributeValue(attrPolicy, service.Shorten(e.Error()))
}

type addPermissionInput struct {
	QueueUrl      string   `max:"2048"`
	Label         string   `max:"256"`
	AWSAccountIds []string `max:"100,256" query:"AWSAccountId"`
	Actions       []string `max:"100,256" query:"ActionName"`
}

func (s *Service) addPermission(ctx context.Context, c *protocol.Call, in *addPermissionInput) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:AddPermission")
	if err != nil {
		return nil, err
	}
	// A text that Shorten cuts is no label, account or action, and will be refused.
	p := policy.Permission{
		Label: service.Shorten(in.Label), Accounts: shortenAll(in.AWSAccountIds), Actions: shortenAll(in.Actions),
	}
	return nil, s.rewrite(ctx, q, func(text string) (string, error) {
		return policy.AddPermission(text, q.Name.ARN(), p, Rules)
	})
}

type removePermissionInput struct {
	QueueUrl string `max:"2048"`
	Label    string `max:"256"`
}

func (s *Service) removePermission(
	ctx context.Context, c *protocol.Call, in *removePermissionInput,
) (*service.Empty, error) {
	q, err := s.queue(c, in.QueueUrl, "sqs:RemovePermission")
	if err != nil {
		return nil, err
	}
	return nil, s.rewrite(ctx, q, func(text string) (string, error) {
		if len(in.Label) > policy.MaxResourceBytes { // longer than the whole policy
			return "", errValue(in.Label, "Label", "can't find label.")
		}
		return policy.RemovePermission(text, in.Label)
	})
}

// rewrite changes the text of a queue's policy.
func (s *Service) rewrite(ctx context.Context, q *catalog.Queue, change func(text string) (string, error)) error {
	return s.records.updateAttributes(ctx, q, func(q *catalog.Queue) error {
		text, err := change(q.Attributes.Policy)
		if err != nil {
			return policyError(err)
		}
		if q.Attributes.Policy = text; text == "" {
			q.Attributes.PolicyIDs = ""
		}
		return nil
	})
}

func shortenAll(list []string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = service.Shorten(s)
	}
	return out
}
