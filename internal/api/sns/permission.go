package sns

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/topic"
)

// effectivePolicy returns the policy of a topic as clients see it: the one that was set, or AWS's default. The default
// names everybody, but only services of this server that act for the topic's owner meet its condition, such as
// CloudWatch: they have an aws:SourceOwner. So it need not be evaluated for other callers.
func effectivePolicy(t *topic.Topic) string {
	if t.Attributes.Policy != "" {
		return t.Attributes.Policy
	}
	return fmt.Sprintf(`{"Version":"2008-10-17","Id":"__default_policy_ID","Statement":[{"Sid":"__default_statement_ID","Effect":"Allow",`+
		`"Principal":{"AWS":"*"},"Action":["SNS:GetTopicAttributes","SNS:SetTopicAttributes","SNS:AddPermission",`+
		`"SNS:RemovePermission","SNS:DeleteTopic","SNS:Subscribe","SNS:ListSubscriptionsByTopic","SNS:Publish"],`+
		`"Resource":%q,"Condition":{"StringEquals":{"AWS:SourceOwner":%q}}}]}`, t.Name.ARN(), t.Name.Account)
}

// setPolicy sets the policy of a topic. It refuses an invalid policy, and one that names a user or role that does not
// exist. Setting the default policy, as it is shown, restores the default.
func (c *topicChange) setPolicy(value string) error {
	if value == "" {
		return c.refuse("Policy is empty")
	}
	old := c.attrs.PolicyIDs
	c.attrs.Policy, c.attrs.PolicyIDs = "", ""
	if value == effectivePolicy(&topic.Topic{Name: c.name}) {
		return nil
	}
	p, err := policy.ParseResource(value, topicRules)
	if err != nil {
		return c.policyError(c.log, c.name, err)
	}
	ids, unknown := service.Bind(p, old, c.idOf)
	if unknown != "" {
		c.log.Info(
			"the policy of a topic names a principal that does not exist",
			"topic",
			c.name.ARN(),
			"principal",
			service.Shorten(unknown),
		)
		return c.noPrincipal()
	}
	c.attrs.Policy, c.attrs.PolicyIDs = value, ids
	service.WarnOfPolicy(c.log, p, c.name.ARN(), nil) // actions were checked
	return nil
}

// policyError translates the errors of package policy. It returns other errors unchanged. AWS does not explain why it
// cannot read a policy, so the log does.
func (w wording) policyError(log *slog.Logger, n topic.Name, err error) error {
	e, ok := errors.AsType[*policy.Error](err)
	switch {
	case !ok:
		return err
	case e.Fault == policy.UnknownAction:
		return w.refuse(unknownAction)
	case e.Fault == policy.OverLimit:
		return w.refuse("Policy Error: " + service.Shorten(e.Error()))
	}
	log.Info("the policy of a topic was refused", "topic", n.ARN(), "reason", service.Shorten(e.Error()))
	if e.Stranger() {
		return w.noPrincipal()
	}
	return w.refuse("Policy Error: null")
}

// noPrincipal refuses a policy that names a caller who does not exist.
func (w wording) noPrincipal() error { return w.refuse("Policy Error: PrincipalNotFound") }

// unknownAction is the reason to refuse an action that the policy of a topic cannot grant.
const unknownAction = "Policy statement action out of service scope!"

// permissions serves the operations that share a topic with accounts.
type permissions struct{ *core }

func (s permissions) register(wire *protocol.Service) {
	protocol.Register(wire, "AddPermission", s.addPermission, protocol.Control)
	protocol.Register(wire, "RemovePermission", s.removePermission, protocol.Control)
}

type addPermissionInput struct {
	TopicArn      *string  `max:"2048"`
	Label         *string  `max:"256"`
	AWSAccountIds []string `max:"100,256" query:"AWSAccountId" wrap:"member"`
	ActionNames   []string `max:"100,256" query:"ActionName"   wrap:"member"`
}

func (s permissions) addPermission(
	ctx context.Context, c *protocol.Call, in *addPermissionInput,
) (*service.Empty, error) {
	t, err := s.find(c, in.TopicArn, "SNS:AddPermission")
	if err != nil {
		return nil, err
	}
	p, err := in.permission()
	if err != nil {
		return nil, err
	}
	return nil, s.updateTopic(ctx, t, func(t *topic.Topic) error {
		text := effectivePolicy(t)
		if hasStatement(text, p.Label) {
			return errParameter("Statement already exists")
		}
		text, err := policy.AddPermission(text, t.Name.ARN(), p, topicRules)
		if err != nil {
			return one.policyError(s.log, t.Name, err)
		}
		t.Attributes.Policy = text
		return nil
	})
}

// permission returns the permission to grant.
func (in *addPermissionInput) permission() (p policy.Permission, err error) {
	var v protocol.Violations
	requireList(&v, "aWSAccountId", len(in.AWSAccountIds))
	p.Label = v.Required("label", in.Label)
	requireList(&v, "actionName", len(in.ActionNames))
	if err := v.Err(); err != nil {
		return p, err
	}
	if !service.ValidName(p.Label, 80) {
		return p, errParameter("Label Reason: Must be 1 to 80 letters, digits, hyphens and underscores.")
	}
	for _, account := range in.AWSAccountIds {
		if !identity.IsAccount(account) {
			return p, errParameter("A provided account ID is not valid")
		}
	}
	for _, action := range in.ActionNames {
		if action != "*" && !slices.Contains(topicRules.Actions, Rules.Vendor+":"+action) {
			return p, one.refuse(unknownAction)
		}
	}
	p.Accounts, p.Actions = in.AWSAccountIds, in.ActionNames
	return p, nil
}

// hasStatement reports whether a policy has a statement of that name.
func hasStatement(text, label string) bool {
	p, err := policy.Parse(policy.ForResource, text)
	if err != nil {
		return false
	}
	for i := range p.Len() {
		if p.Statement(i).Sid == label {
			return true
		}
	}
	return false
}

type removePermissionInput struct {
	TopicArn *string `max:"2048"`
	Label    *string `max:"256"`
}

func (s permissions) removePermission(
	ctx context.Context, c *protocol.Call, in *removePermissionInput,
) (*service.Empty, error) {
	t, err := s.find(c, in.TopicArn, "SNS:RemovePermission")
	if err != nil {
		return nil, err
	}
	var v protocol.Violations
	label := v.Required("label", in.Label)
	if err := v.Err(); err != nil {
		return nil, err
	}
	return nil, s.updateTopic(ctx, t, func(t *topic.Topic) error {
		text := effectivePolicy(t)
		if !hasStatement(text, label) {
			return nil // as on AWS
		}
		text, err := policy.RemovePermission(text, label)
		if err != nil {
			return one.policyError(s.log, t.Name, err)
		}
		if text == "" {
			return errParameter("Label Reason: It is the only statement of the policy. Set the attribute Policy instead.")
		}
		t.Attributes.Policy = text
		return nil
	})
}
