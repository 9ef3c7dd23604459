package sts

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// noMFA refuses codes of a second factor: this server has none.
func noMFA(serial, code *string) error {
	if serial != nil || code != nil {
		return protocol.AccessDenied("MultiFactorAuthentication failed with invalid MFA one time pass code. ")
	}
	return nil
}

type sessionTokenInput struct {
	DurationSeconds *int32
	SerialNumber    *string `max:"256"`
	TokenCode       *string `max:"6"`
}

type sessionTokenOutput struct{ Credentials Credentials }

func (s *Service) getSessionToken(_ context.Context, c *protocol.Call, in *sessionTokenInput) (*sessionTokenOutput, error) {
	id := service.Caller(c)
	if id.Session != nil {
		return nil, protocol.AccessDenied("Cannot call GetSessionToken with session credentials")
	}
	if err := noMFA(in.SerialNumber, in.TokenCode); err != nil {
		return nil, err
	}
	var v protocol.Violations
	seconds := lasting(&v, in.DurationSeconds, mostSeconds, defaultOfUsers)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if id.IsRoot() {
		seconds = min(seconds, mostOfRoots)
	}
	session := s.session(id.ARN, id.UserID, seconds, nil)
	keys, err := s.issue(id.Kind, id.Account, "", session)
	if err != nil {
		return nil, err
	}
	return &sessionTokenOutput{keys}, nil
}

type federationTokenInput struct {
	Name            *string            `max:"32"`
	Policy          *string            `max:"16K"`
	PolicyArns      []PolicyDescriptor `wrap:"member" max:"10"`
	DurationSeconds *int32
	Tags            []Tag `wrap:"member" max:"50"`
}

// FederatedUser is the holder of keys of GetFederationToken.
type FederatedUser struct {
	FederatedUserId string
	Arn             string
}

type federationTokenOutput struct {
	Credentials      Credentials
	FederatedUser    FederatedUser
	PackedPolicySize int32
}

func (s *Service) getFederationToken(_ context.Context, c *protocol.Call, in *federationTokenInput) (*federationTokenOutput, error) {
	id := service.Caller(c)
	if id.Session != nil {
		return nil, protocol.AccessDenied("Cannot call GetFederationToken with session credentials")
	}
	var v protocol.Violations
	who := name(&v, "name", in.Name, 32)
	v.Length("policy", in.Policy, 1, 1<<20)
	seconds := lasting(&v, in.DurationSeconds, mostSeconds, defaultOfUsers)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if id.IsRoot() {
		seconds = min(seconds, mostOfRoots)
	}
	arn := "arn:aws:sts::" + id.Account + ":federated-user/" + who
	if err := s.allow(c, "GetFederationToken", arn, nil); err != nil {
		return nil, err
	}
	l, err := s.newLimits(id.Account, in.Policy, in.PolicyArns, in.Tags)
	if err != nil {
		return nil, err
	}
	if len(l.tags) > 0 {
		if err := s.allow(c, "TagSession", arn, l.tags); err != nil {
			return nil, err
		}
	}
	session := s.session(id.ARN, id.UserID, seconds, l)
	keys, err := s.issue(policy.FederatedUser, id.Account, who, session)
	if err != nil {
		return nil, err
	}
	return &federationTokenOutput{
		Credentials:      keys,
		FederatedUser:    FederatedUser{id.Account + ":" + who, arn},
		PackedPolicySize: l.packed,
	}, nil
}

type assumeRoleInput struct {
	RoleArn           *string            `max:"2048"`
	RoleSessionName   *string            `max:"64"`
	Policy            *string            `max:"16K"`
	PolicyArns        []PolicyDescriptor `wrap:"member" max:"10"`
	DurationSeconds   *int32
	ExternalId        *string  `max:"1224"`
	Tags              []Tag    `wrap:"member" max:"50"`
	TransitiveTagKeys []string `wrap:"member" max:"50,128"`
	SourceIdentity    *string  `max:"64"`
	SerialNumber      *string  `max:"256"`
	TokenCode         *string  `max:"6"`
}

// AssumedRoleUser is a session of a role.
type AssumedRoleUser struct {
	AssumedRoleId string
	Arn           string
}

type assumeRoleOutput struct {
	Credentials      Credentials
	AssumedRoleUser  AssumedRoleUser
	PackedPolicySize int32
}

func (s *Service) assumeRole(_ context.Context, c *protocol.Call, in *assumeRoleInput) (*assumeRoleOutput, error) {
	id := service.Caller(c)
	var v protocol.Violations
	arn := v.Required("roleArn", in.RoleArn)
	v.Length("roleArn", in.RoleArn, 20, 2048)
	called := name(&v, "roleSessionName", in.RoleSessionName, 64)
	v.Length("externalId", in.ExternalId, 2, 1224)
	v.Length("policy", in.Policy, 1, 1<<20)
	seconds := lasting(&v, in.DurationSeconds, mostOfRoles, defaultOfRoles)
	if err := v.Err(); err != nil {
		return nil, err
	}
	switch {
	case len(in.TransitiveTagKeys) > 0 || in.SourceIdentity != nil:
		return nil, protocol.ValidationError("TransitiveTagKeys and SourceIdentity are not supported.")
	case id.IsRoot():
		return nil, protocol.AccessDenied("Roles may not be assumed by root accounts.")
	case id.Kind == policy.FederatedUser:
		return nil, protocol.AccessDenied("Cannot call AssumeRole with session credentials")
	}
	if err := noMFA(in.SerialNumber, in.TokenCode); err != nil {
		return nil, err
	}
	c.Notes.Set("target", service.Shorten(arn))
	role := s.directory.ByARN(arn)
	if role == nil || role.Kind != directory.Role {
		return nil, s.refuse(id, arn)
	}
	trust, ok := s.directory.Trust(role)
	if !ok {
		return nil, s.refuse(id, arn)
	}
	l, err := s.newLimits(role.Account, in.Policy, in.PolicyArns, in.Tags)
	if err != nil {
		// A caller that may not assume the role is told that first.
		l = new(limits)
	}
	actions := []string{"sts:AssumeRole"}
	if len(in.Tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	for _, action := range actions {
		if denied := s.mayAssume(c, role.ARN(), role.Account, trust, action, called, in.ExternalId, l.tags); denied != nil {
			return nil, denied
		}
	}
	if c.About != nil { // only now: who may not assume the role leaves no event in its account
		*c.About = protocol.About{ARN: role.ARN(), Owner: role.Account}
	}
	switch {
	case err != nil:
		return nil, err
	case in.DurationSeconds != nil && time.Duration(seconds)*time.Second > role.MaxSession:
		return nil, protocol.ValidationError("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	case id.Kind == policy.AssumedRole && seconds > mostOfChains:
		return nil, protocol.ValidationError("The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining.")
	}
	session := s.session(role.ARN(), role.ID, seconds, l)
	keys, err := s.issue(policy.AssumedRole, role.Account, called, session)
	if err != nil {
		return nil, err
	}
	return &assumeRoleOutput{
		Credentials: keys,
		AssumedRoleUser: AssumedRoleUser{
			AssumedRoleId: role.ID + ":" + called,
			Arn:           "arn:aws:sts::" + role.Account + ":assumed-role/" + role.Name + "/" + called,
		},
		PackedPolicySize: l.packed,
	}, nil
}

// refuse says that a caller may not assume a role, whether the role exists or not.
func (s *Service) refuse(id identity.Identity, arn string) error {
	return protocol.AccessDenied("User: %s is not authorized to perform: sts:AssumeRole on resource: %s", id.ARN, service.Shorten(arn))
}

// mayAssume decides by the role's trust policy and the caller's own policies.
func (s *Service) mayAssume(
	c *protocol.Call, arn, account string, trust *policy.Policy, action, called string, external *string, tags map[string]string,
) error {
	id := service.Caller(c)
	p, ok := s.directory.Principal(id)
	if !ok {
		return s.refuse(id, arn)
	}
	about := service.Subject{NewTags: tags, Lookup: func(key string) (policy.Value, bool) {
		switch key {
		case "sts:rolesessionname":
			return policy.Text(called), true
		case "sts:externalid":
			if external != nil {
				return policy.Text(*external), true
			}
		}
		return policy.Value{}, false
	}}
	r := policy.Request{
		Caller: p.Caller, Identity: p.Identity, Boundary: p.Boundary, Session: p.Session,
		Action: action, Resource: arn, Owner: account, Rules: rules, ResourcePolicy: trust, Facts: s.authorizer.Facts(c, &about),
	}
	if d := policy.Decide(&r); !d.Allowed() {
		return service.Refusal(access.NewDenial(d, d.Message(&r)))
	}
	return nil
}
