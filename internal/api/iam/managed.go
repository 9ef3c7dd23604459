package iam

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
)

// Policy is a managed policy as clients see it.
type Policy struct {
	PolicyFacts
	Tags []Tag `wrap:"member"`
}

// DetailedPolicy is a Policy that shows its tags even if there are none.
type DetailedPolicy struct {
	PolicyFacts
	Tags []Tag `json:",always" wrap:"member"`
}

// PolicyFacts is the part of a managed policy that every answer shows.
type PolicyFacts struct {
	PolicyName                    string
	PolicyId                      string
	Arn                           string
	Path                          string
	DefaultVersionId              string
	AttachmentCount               int32
	PermissionsBoundaryUsageCount int32
	IsAttachable                  bool
	Description                   string `json:",omitempty"`
	CreateDate                    time.Time
	UpdateDate                    time.Time
}

// facts returns an account's view of a managed policy.
func (s *core) facts(account string, m *directory.Managed) PolicyFacts {
	attached, bounded := s.holders(account, m)
	return PolicyFacts{
		PolicyName: m.Name, PolicyId: m.ID, Arn: m.ARN(), Path: m.Path, DefaultVersionId: m.Default,
		AttachmentCount: int32(len(attached)), PermissionsBoundaryUsageCount: int32(len(bounded)), IsAttachable: true,
		Description: m.Description, CreateDate: m.Created, UpdateDate: m.Updated,
	}
}

// holders returns the entities of an account with a managed policy, attached or as their boundary.
func (s *core) holders(account string, m *directory.Managed) (attached, bounded []*directory.Entity) {
	return s.directory.Users(account, m.ARN())
}

// policies serves the operations about managed policies.
type policies struct{ *core }

func (s policies) register(wire *protocol.Service) {
	protocol.Register(wire, "CreatePolicy", s.createPolicy, protocol.Control)
	protocol.Register(wire, "GetPolicy", s.getPolicy)
	protocol.Register(wire, "DeletePolicy", s.deletePolicy, protocol.Control)
	protocol.Register(wire, "ListPolicies", s.listPolicies)
	protocol.Register(wire, "CreatePolicyVersion", s.createPolicyVersion, protocol.Control)
	protocol.Register(wire, "GetPolicyVersion", s.getPolicyVersion)
	protocol.Register(wire, "DeletePolicyVersion", s.deletePolicyVersion, protocol.Control)
	protocol.Register(wire, "ListPolicyVersions", s.listPolicyVersions)
	protocol.Register(wire, "SetDefaultPolicyVersion", s.setDefaultPolicyVersion, protocol.Control)
	protocol.Register(wire, "ListEntitiesForPolicy", s.listEntitiesForPolicy)
	protocol.Register(wire, "TagPolicy", s.tagPolicy, protocol.Control)
	protocol.Register(wire, "UntagPolicy", s.untagPolicy, protocol.Control)
	protocol.Register(wire, "ListPolicyTags", s.listPolicyTags)
}

// checkManaged checks a document for a version of the managed policy with the ARN.
func (s policies) checkManaged(text, arn string) error {
	p, err := policy.Parse(policy.ForIdentity, text)
	if err == nil {
		err = p.CheckIAM(policy.MaxManaged, 0)
	}
	if err == nil {
		err = p.CheckVersion()
	}
	if err == nil {
		s.warn(p, arn)
		return nil
	}
	return service.DocumentError(err, errQuota("PolicySize", policy.MaxManaged))
}

type createPolicyInput struct {
	PolicyName     *string `max:"128"`
	Path           *string `max:"512"`
	PolicyDocument *string `max:"128K"`
	Description    *string `max:"1000"`
	Tags           []Tag   `max:"50"   wrap:"member"`
}

type policyOutput struct{ Policy Policy }

func (s policies) createPolicy(ctx context.Context, c *protocol.Call, in *createPolicyInput) (*policyOutput, error) {
	text := orEmpty(in.PolicyDocument)
	name := orEmpty(in.PolicyName)
	path, err := checkPath("path", in.Path)
	if err != nil {
		return nil, err
	}
	now := s.now().UTC().Truncate(time.Second)
	m := &directory.Managed{
		Account: service.Caller(c).Account, Name: name, Path: path, ID: identity.NewID("ANPA"), Created: now,
		Updated: now,
		Default: "v1", Last: 1, Versions: []directory.Version{{ID: "v1", Document: text, Created: now}},
	}
	if in.Description != nil {
		m.Description = *in.Description
	}
	if m.Tags, err = checkTags(in.Tags); err != nil {
		return nil, err
	}
	if err := s.allowNew(c, "Policy", subject{arn: m.ARN(), shown: "policy " + name, newTags: m.Tags}); err != nil {
		return nil, err
	}
	if err := s.checkManaged(text, m.ARN()); err != nil {
		return nil, err
	}
	err = s.change(ctx, func(tx *directory.Tx) error {
		all := s.directory.Policies(m.Account)
		if slices.ContainsFunc(all, func(other *directory.Managed) bool {
			return strings.EqualFold(other.Name, name)
		}) {
			return errExists("A policy called %s already exists. Duplicate names are not allowed.", name)
		}
		if len(all) >= maxPolicies {
			return errQuota("PoliciesPerAccount", maxPolicies)
		}
		tx.PutPolicy(m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	out := &policyOutput{Policy{s.facts(m.Account, m), service.TagList(m.Tags)}}
	out.Policy.Description = "" // AWS shows it from GetPolicy on
	return out, nil
}

// managed returns the policy that a request names, if the caller may take the
// action on it.
func (s policies) managed(c *protocol.Call, name *string, action string) (*directory.Managed, error) {
	return s.managedFor(c, name, action, subject{})
}

func (s policies) managedFor(c *protocol.Call, name *string, action string, about subject) (*directory.Managed, error) {
	arn := orEmpty(name)
	arn = service.Shorten(arn)
	m := s.policyOf(service.Caller(c).Account, arn)
	about.arn, about.shown = arn, shownAs("policy", action, arn)
	if m != nil {
		about.tags = m.Tags
	}
	if err := s.allow(c, action, about); err != nil {
		return nil, err
	}
	if !isARN(arn) {
		return nil, errInput("ARN %s is not valid.", arn)
	}
	if m == nil {
		return nil, errNoPolicy(arn)
	}
	return m, nil
}

// editPolicy changes a policy that was found. AWS's own cannot be changed.
func (s policies) editPolicy(
	ctx context.Context, m *directory.Managed, change func(tx *directory.Tx, m *directory.Managed) error,
) error {
	_, err := s.editedPolicy(ctx, m, change)
	return err
}

// editedPolicy is editPolicy, and returns the changed policy.
func (s policies) editedPolicy(
	ctx context.Context, m *directory.Managed, change func(tx *directory.Tx, m *directory.Managed) error,
) (
	*directory.Managed, error,
) {
	if m.Account == "aws" {
		return nil, protocol.AccessDenied("Policy %s is managed by AWS and cannot be changed.", m.ARN())
	}
	return control.Decide(ctx, s.change, func(tx *directory.Tx) (*directory.Managed, error) {
		now := s.directory.Policy(m.ARN())
		if now == nil {
			return nil, errNoPolicy(m.ARN())
		}
		now = now.Clone()
		return now, change(tx, now)
	})
}

type policyInput struct {
	PolicyArn *string `max:"2048"`
	VersionId *string `max:"64"`
	Marker    *string `max:"2048"`
	MaxItems  *int32
}

type getPolicyOutput struct{ Policy DetailedPolicy }

func (s policies) getPolicy(_ context.Context, c *protocol.Call, in *policyInput) (*getPolicyOutput, error) {
	m, err := s.managed(c, in.PolicyArn, "GetPolicy")
	if err != nil {
		return nil, err
	}
	return &getPolicyOutput{DetailedPolicy{s.facts(service.Caller(c).Account, m), service.TagList(m.Tags)}}, nil
}

func (s policies) deletePolicy(ctx context.Context, c *protocol.Call, in *policyInput) (*service.Empty, error) {
	m, err := s.managed(c, in.PolicyArn, "DeletePolicy")
	if err != nil {
		return nil, err
	}
	return nil, s.editPolicy(ctx, m, func(tx *directory.Tx, m *directory.Managed) error {
		attached, bounded := s.directory.Users(m.Account, m.ARN()) // no other account can use it
		switch {
		case len(attached)+len(bounded) > 0:
			return service.Modelled(
				"DeleteConflictException", "DeleteConflict", 409, "Cannot delete a policy attached to entities.",
			)
		case len(m.Versions) > 1:
			return service.Modelled(
				"DeleteConflictException",
				"DeleteConflict",
				409,
				"This policy has more than one version. Before you delete a policy, you must delete the policy's versions. The default version is deleted with the policy.",
			)
		}
		tx.DeletePolicy(m)
		return nil
	})
}

type listPoliciesInput struct {
	Scope             *string `max:"64"`
	OnlyAttached      *bool
	PathPrefix        *string `max:"512"`
	PolicyUsageFilter *string `max:"64"`
	Marker            *string `max:"2048"`
	MaxItems          *int32
}

type listPoliciesOutput struct {
	Policies    []Policy `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

const (
	usedAsPolicy   = "PermissionsPolicy"
	usedAsBoundary = "PermissionsBoundary"
)

func (s policies) listPolicies(
	_ context.Context, c *protocol.Call, in *listPoliciesInput,
) (*listPoliciesOutput, error) {
	account := service.Caller(c).Account
	if err := s.allow(c, "ListPolicies", subject{
		arn: "arn:aws:iam::" + account + ":policy/", shown: "policy path " + cmp.Or(orEmpty(in.PathPrefix), "/"),
	}); err != nil {
		return nil, err
	}
	var all []*directory.Managed
	if in.Scope == nil || *in.Scope != "Local" {
		all = append(all, s.directory.Policies("aws")...)
	}
	if in.Scope == nil || *in.Scope != "AWS" {
		all = append(all, s.directory.Policies(account)...)
	}
	only := in.OnlyAttached != nil && *in.OnlyAttached
	all = service.Filter(all, func(m *directory.Managed) bool {
		if !prefixed(m.Path, in.PathPrefix) {
			return false
		}
		if !only && in.PolicyUsageFilter == nil {
			return true
		}
		attached, bounded := s.holders(account, m)
		switch {
		case in.PolicyUsageFilter == nil:
			return len(attached)+len(bounded) > 0
		case *in.PolicyUsageFilter == usedAsBoundary:
			return len(bounded) > 0
		}
		return !only || len(attached) > 0 // a policy without users can be attached
	})
	byARN := (*directory.Managed).ARN
	slices.SortFunc(all, func(a, b *directory.Managed) int { return cmp.Compare(byARN(a), byARN(b)) })
	p, err := paginate(all, byARN, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listPoliciesOutput{service.Convert(p.Items, func(m *directory.Managed) Policy {
		facts := s.facts(account, m)
		facts.Description = ""
		return Policy{PolicyFacts: facts}
	}), p.Next != "", p.Next}, nil
}
