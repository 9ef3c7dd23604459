package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// storedPolicies holds a running server's policies of a user or role.
type storedPolicies struct {
	arn      string
	identity []*policy.Policy
	boundary *policy.Policy
}

// entityPolicies fetches the policies of a user or role, its own and those of its groups; kind is User or Role.
func (c *client) entityPolicies(ctx context.Context, kind, name string) (*storedPolicies, error) {
	var body xmlText
	if err := c.iam(ctx, "Get"+kind, &body, kind+"Name", name); err != nil {
		return nil, err
	}
	at := "Get" + kind + "Result>" + kind + ">"
	arns := body.texts(at + "Arn")
	if len(arns) != 1 {
		return nil, fmt.Errorf("Get%s: the answer has no ARN", kind)
	}
	s := &storedPolicies{arn: arns[0]}
	for _, arn := range body.texts(at + "PermissionsBoundary>PermissionsBoundaryArn") {
		text, err := managedPolicy(ctx, c, arn)
		if err != nil {
			return nil, err
		}
		if s.boundary, err = parseStored(text, "the boundary "+arn); err != nil {
			return nil, err
		}
	}
	if err := s.add(ctx, c, kind, name); err != nil || kind != "User" {
		return s, err
	}
	groups, err := c.names(ctx, "ListGroupsForUser", "Groups>member>GroupName", "UserName", name)
	for _, group := range groups {
		err = errors.Join(err, s.add(ctx, c, "Group", group))
	}
	return s, err
}

// add fetches the policies of one user, group or role, inline and attached.
func (s *storedPolicies) add(ctx context.Context, c *client, kind, name string) error {
	inline, err := c.names(ctx, "List"+kind+"Policies", "PolicyNames>member", kind+"Name", name)
	if err != nil {
		return err
	}
	for _, one := range inline {
		text, err := inlinePolicy(ctx, c, kind, name, one)
		if err != nil {
			return err
		}
		if err := s.parse(text, strings.ToLower(kind)+" "+name+"'s policy "+one); err != nil {
			return err
		}
	}
	attached, err := c.names(
		ctx, "ListAttached"+kind+"Policies", "AttachedPolicies>member>PolicyArn", kind+"Name", name,
	)
	if err != nil {
		return err
	}
	for _, arn := range attached {
		text, err := managedPolicy(ctx, c, arn)
		if err != nil {
			return err
		}
		if err := s.parse(text, arn); err != nil {
			return err
		}
	}
	return nil
}

func (s *storedPolicies) parse(text, name string) error {
	p, err := parseStored(text, name)
	if err == nil {
		s.identity = append(s.identity, p)
	}
	return err
}

func parseStored(text, name string) (*policy.Policy, error) {
	p, err := policy.Parse(policy.ForIdentity, text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p.Named(name), nil
}
