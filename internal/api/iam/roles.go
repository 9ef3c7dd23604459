package iam

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Role is a role as clients see it.
type Role struct {
	Path                     string
	RoleName                 string
	RoleId                   string
	Arn                      string
	CreateDate               time.Time
	AssumeRolePolicyDocument string
	Description              string `json:",omitempty"`
	MaxSessionDuration       int32  `json:",omitempty"`
	MaxSigninSessionDuration int32  `json:",omitempty"`
	PermissionsBoundary      *Boundary
	Tags                     []Tag `                  wrap:"member"`
	RoleLastUsed             *RoleLastUsed
}

// RoleLastUsed is the last use of a role's session. It is empty if there was none.
type RoleLastUsed struct {
	LastUsedDate *time.Time
	Region       string `json:",omitempty"`
}

// lastUsed returns when a role was last used.
func (s *core) lastUsed(role *directory.Entity) *RoleLastUsed {
	if u, ok := s.directory.LastUse(role); ok {
		return &RoleLastUsed{&u.At, u.Region}
	}
	return new(RoleLastUsed)
}

func (s *core) showRole(e *directory.Entity) Role {
	return Role{
		Path: e.Path, RoleName: e.Name, RoleId: e.ID, Arn: e.ARN(), CreateDate: e.Created,
		AssumeRolePolicyDocument: escape(s.trustOf(e)), Description: e.Description,
		MaxSessionDuration:       int32(e.MaxSession / time.Second),
		MaxSigninSessionDuration: int32(e.MaxSignIn / time.Second),
		PermissionsBoundary:      boundaryOf(e), Tags: service.TagList(e.Tags),
	}
}

// trustOf returns the trust policy of a role as AWS shows it: with the present ARNs of the users and roles that it
// names, and the unique ids of those that were deleted.
func (s *core) trustOf(e *directory.Entity) string {
	if len(e.TrustIDs) == 0 {
		return e.Trust
	}
	trust, err := policy.Parse(policy.ForTrust, e.Trust)
	if err != nil {
		return e.Trust
	}
	return trust.Renamed(func(arn string) string {
		id := e.TrustIDs[arn]
		if now := s.directory.Entity(id); now != nil {
			return now.ARN()
		}
		return cmp.Or(id, arn)
	})
}

// listedRole returns a role for lists: without boundary and tags.
func (s *core) listedRole(e *directory.Entity) Role {
	r := s.showRole(e)
	r.PermissionsBoundary, r.Tags = nil, nil
	return r
}

// roles serves the operations about roles.
type roles struct{ *core }

func (s roles) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateRole", s.createRole, protocol.Control)
	protocol.Register(wire, "GetRole", s.getRole)
	protocol.Register(wire, "UpdateRole", s.updateRole, protocol.Control, protocol.EmptyResult)
	protocol.Register(wire, "UpdateRoleDescription", s.updateRoleDescription, protocol.Control)
	protocol.Register(wire, "UpdateAssumeRolePolicy", s.updateAssumeRolePolicy, protocol.Control)
	protocol.Register(wire, "DeleteRole", s.deleteRole, protocol.Control)
	protocol.Register(wire, "ListRoles", s.listRoles)
}

// defaultSession is the default maximum length of a role's sessions, in seconds.
const defaultSession = 3600

type createRoleInput struct {
	RoleName                 *string `max:"64"`
	Path                     *string `max:"512"`
	AssumeRolePolicyDocument *string `max:"128K"`
	Description              *string `max:"1000"`
	MaxSessionDuration       *int32
	MaxSigninSessionDuration *int32
	PermissionsBoundary      *string `max:"2048"`
	Tags                     []Tag   `max:"50"   wrap:"member"`
}

type roleOutput struct{ Role Role }

func (s roles) createRole(ctx context.Context, c *protocol.Call, in *createRoleInput) (*roleOutput, error) {
	trust := orEmpty(in.AssumeRolePolicyDocument)
	e, err := s.newEntity(c, directory.Role, in.RoleName, in.Path, in.PermissionsBoundary, in.Tags)
	if err != nil {
		return nil, err
	}
	e.MaxSession = defaultSession * time.Second
	if in.MaxSessionDuration != nil {
		e.MaxSession = time.Duration(*in.MaxSessionDuration) * time.Second
	}
	if in.MaxSigninSessionDuration != nil {
		e.MaxSignIn = time.Duration(*in.MaxSigninSessionDuration) * time.Second
	}
	if in.Description != nil {
		e.Description = *in.Description
	}
	if err := s.setTrust(e, trust); err != nil {
		return nil, err
	}
	if err := s.add(ctx, e, maxRoles); err != nil {
		return nil, err
	}
	out := &roleOutput{s.showRole(e)}
	if in.MaxSessionDuration == nil {
		out.Role.MaxSessionDuration = 0 // AWS shows the default from GetRole on
	}
	return out, nil
}

// setTrust sets the trust policy of a role. The users and roles that the policy names must exist, and are bound to
// their unique ids: a user created later under the same name is not included.
func (s roles) setTrust(e *directory.Entity, text string) error {
	p, err := policy.Parse(policy.ForTrust, text)
	if err == nil {
		err = p.CheckIAM(policy.MaxTrust, 0)
	}
	if err != nil {
		return service.DocumentError(err, errQuota("ACLSizePerRole", policy.MaxTrust))
	}
	ids := make(map[string]string)
	for _, arn := range p.Entities() {
		id, ok := s.directory.ID(arn)
		if !ok {
			return service.MalformedDocument("Invalid principal in policy: \"AWS\":\"%s\"", service.Shorten(arn))
		}
		ids[arn] = id
	}
	for _, id := range p.IDs() {
		if s.directory.Entity(id) == nil {
			return service.MalformedDocument("Invalid principal in policy: \"AWS\":\"%s\"", id)
		}
	}
	e.Trust, e.TrustIDs = text, ids
	s.warn(p, e.ARN())
	return nil
}

type roleInput struct {
	RoleName *string `max:"64"`
}

func (s roles) getRole(_ context.Context, c *protocol.Call, in *roleInput) (*roleOutput, error) {
	e, err := s.find(c, directory.Role, in.RoleName, "GetRole")
	if err != nil {
		return nil, err
	}
	out := &roleOutput{s.showRole(e)}
	out.Role.RoleLastUsed = s.lastUsed(e)
	return out, nil
}

type updateRoleInput struct {
	RoleName           *string `max:"64"`
	Description        *string `max:"1000"`
	MaxSessionDuration *int32
	signInLimit
}

func (s roles) updateRole(ctx context.Context, c *protocol.Call, in *updateRoleInput) (*service.Empty, error) {
	_, err := s.describeRole(ctx, c, in, "UpdateRole")
	return nil, err
}

func (s roles) updateRoleDescription(ctx context.Context, c *protocol.Call, in *updateRoleInput) (*roleOutput, error) {
	in.MaxSessionDuration, in.signInLimit = nil, signInLimit{}
	e, err := s.describeRole(ctx, c, in, "UpdateRoleDescription")
	if err != nil {
		return nil, err
	}
	return &roleOutput{s.showRole(e)}, nil
}

func (s roles) describeRole(
	ctx context.Context, c *protocol.Call, in *updateRoleInput, action string,
) (*directory.Entity, error) {
	e, err := s.find(c, directory.Role, in.RoleName, action)
	if err != nil {
		return nil, err
	}
	if err := in.signInLimit.check(); err != nil {
		return nil, err
	}
	return s.edited(ctx, e, func(e *directory.Entity) error {
		in.signInLimit.change(&e.MaxSignIn)
		if in.Description != nil {
			e.Description = *in.Description
		}
		if in.MaxSessionDuration != nil {
			e.MaxSession = time.Duration(*in.MaxSessionDuration) * time.Second
		}
		return nil
	})
}

type assumeRolePolicyInput struct {
	RoleName       *string `max:"64"`
	PolicyDocument *string `max:"128K"`
}

func (s roles) updateAssumeRolePolicy(
	ctx context.Context, c *protocol.Call, in *assumeRolePolicyInput,
) (*service.Empty, error) {
	text := orEmpty(in.PolicyDocument)
	e, err := s.find(c, directory.Role, in.RoleName, "UpdateAssumeRolePolicy")
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error { return s.setTrust(e, text) })
}

func (s roles) deleteRole(ctx context.Context, c *protocol.Call, in *roleInput) (*service.Empty, error) {
	return s.remove(ctx, c, directory.Role, in.RoleName)
}

type listRolesInput struct {
	PathPrefix *string `max:"512"`
	Marker     *string `max:"2048"`
	MaxItems   *int32
}

type listRolesOutput struct {
	Roles       []Role `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s roles) listRoles(_ context.Context, c *protocol.Call, in *listRolesInput) (*listRolesOutput, error) {
	p, err := s.listEntities(c, directory.Role, "ListRoles", in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listRolesOutput{service.Convert(p.Items, s.listedRole), p.Next != "", p.Next}, nil
}

// escape encodes a document as IAM returns it: percent-encoded by RFC 3986.
func escape(document string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, c := range []byte(document) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-_.~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		b.Write([]byte{'%', hex[c>>4], hex[c&15]})
	}
	return b.String()
}
