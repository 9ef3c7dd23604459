package sts

import (
	"context"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type assumeRoleInput struct {
	assumption
	ExternalId        *string  `max:"1224"`
	Tags              []Tag    `max:"50"     wrap:"member"`
	TransitiveTagKeys []string `max:"50,128" wrap:"member"`
	SourceIdentity    *string  `max:"256"`
	SerialNumber      *string  `max:"256"`
	TokenCode         *string  `max:"6"      hidden:""`
}

type assumeRoleOutput struct {
	Credentials      Credentials
	AssumedRoleUser  AssumedRoleUser
	PackedPolicySize *int32
	tokenUse
	SourceIdentity string `json:",omitempty"`
}

func (s *Service) assumeRole(ctx context.Context, c *protocol.Call, in *assumeRoleInput) (*assumeRoleOutput, error) {
	id := service.Caller(c)
	if _, err := in.account(); err != nil {
		return nil, err
	}
	if err := mayAsk(&id); err != nil {
		return nil, err
	}
	shown, err := s.secondFactor(c, in.SerialNumber, in.TokenCode)
	if err != nil {
		return nil, err
	}
	role, trust, ok := s.role(c, *in.RoleArn)
	if !ok {
		return nil, s.refuse(&id, *in.RoleArn)
	}
	l, refused := s.limitsOf(&id, role, in)
	if refused != nil {
		l = new(limits) // a caller that may not assume the role gets AccessDenied first
	}
	a := &asked{called: *in.RoleSessionName, external: in.ExternalId, limits: l, shown: shown.at}
	if err := s.mayAssume(c, role, trust, a); err != nil {
		return nil, err
	}
	if c.About != nil { // only now: a caller that may not assume the role leaves no event in its account
		*c.About = protocol.About{ARN: role.ARN(), Owner: role.Account}
	}
	if refused != nil {
		return nil, refused
	}
	if err := in.checkLength(role); err != nil {
		return nil, err
	}
	if id.Kind == policy.AssumedRole && in.seconds() > mostOfChains {
		return nil, protocol.ValidationError(
			"The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.",
		)
	}
	if err := s.use(ctx, &id, shown); err != nil {
		return nil, err
	}
	session := s.session(role.ARN(), role.ID, in.seconds(), l)
	keys, err := s.issue(policy.AssumedRole, role.Account, a.called, session, in.tokenSize)
	if err != nil {
		return nil, err
	}
	return &assumeRoleOutput{
		Credentials: keys, AssumedRoleUser: showSession(role, a.called), PackedPolicySize: l.packed,
		tokenUse: useOf(keys), SourceIdentity: l.SourceIdentity,
	}, nil
}

// mayAsk refuses callers that cannot assume any role.
func mayAsk(id *identity.Identity) error {
	switch {
	case id.IsRoot():
		return protocol.AccessDenied("Roles may not be assumed by root accounts.")
	case id.Kind == policy.FederatedUser:
		return protocol.AccessDenied("Cannot call AssumeRole with session credentials")
	}
	return nil
}

// limitsOf returns the limits of the new session: those in the request, and those that the caller's own session passes
// on.
func (s *Service) limitsOf(id *identity.Identity, role *directory.Entity, in *assumeRoleInput) (*limits, error) {
	l, err := s.newLimits(role.Account, &in.restrictions, in.Tags)
	if err != nil {
		return nil, err
	}
	if err := l.pass(in.TransitiveTagKeys); err != nil {
		return nil, err
	}
	if in.SourceIdentity != nil {
		l.SourceIdentity = *in.SourceIdentity
		if id.SourceIdentity != "" && id.SourceIdentity != l.SourceIdentity {
			return nil, s.refuse(id, role.ARN()) // it is the same for a whole chain
		}
	}
	return l, l.inherit(id.Session)
}

// refuse reports that a caller may not assume a role, whether or not the role exists.
func (s *Service) refuse(id *identity.Identity, arn string) error {
	return protocol.AccessDenied("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", id.ARN, service.Shorten(arn))
}

// mayAssume decides by the role's trust policy and the caller's own policies.
func (s *Service) mayAssume(c *protocol.Call, role *directory.Entity, trust *policy.Policy, a *asked) error {
	id := service.Caller(c)
	p, ok := s.directory.Principal(id)
	if !ok {
		return s.refuse(&id, role.ARN())
	}
	if !a.shown.IsZero() {
		p.Caller.MFA = a.shown
	}
	r := policy.Request{
		Caller: p.Caller, Identity: p.Identity, Boundary: p.Boundary, Session: p.Session,
		Resource: role.ARN(), Owner: role.Account, Rules: rules, ResourcePolicy: trust,
		Facts: s.authorizer.Facts(c, &service.Subject{NewTags: a.limits.Tags, Lookup: a.lookup}),
	}
	for _, r.Action = range a.actions("sts:AssumeRole") {
		if d := policy.Decide(&r); !d.Allowed() {
			return service.Refusal(access.NewDenial(d, d.Message(&r)))
		}
	}
	return nil
}
