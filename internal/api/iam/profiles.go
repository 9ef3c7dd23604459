package iam

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// profiles serves the operations about instance profiles. They are stored and listed for programs that create them
// together with roles; no instances run here.
type profiles struct{ *core }

func (s profiles) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateInstanceProfile", s.create, protocol.Control)
	protocol.Register(wire, "GetInstanceProfile", s.get)
	protocol.Register(wire, "DeleteInstanceProfile", s.delete, protocol.Control)
	protocol.Register(wire, "ListInstanceProfiles", s.list)
	protocol.Register(wire, "ListInstanceProfilesForRole", s.listForRole)
	protocol.Register(wire, "AddRoleToInstanceProfile", s.addRole, protocol.Control)
	protocol.Register(wire, "RemoveRoleFromInstanceProfile", s.removeRole, protocol.Control)
	protocol.Register(wire, "TagInstanceProfile", s.tag, protocol.Control)
	protocol.Register(wire, "UntagInstanceProfile", s.untag, protocol.Control)
	protocol.Register(wire, "ListInstanceProfileTags", s.listTags)
}

// InstanceProfile is an instance profile as clients see it.
type InstanceProfile struct {
	Path                string
	InstanceProfileName string
	InstanceProfileId   string
	Arn                 string
	CreateDate          time.Time
	Roles               []Role `json:",always" wrap:"member"`
	Tags                []Tag  `               wrap:"member"`
}

func (s *core) showProfile(e *directory.Entity) InstanceProfile {
	p := s.listedProfile(e)
	p.Tags = service.TagList(e.Tags)
	return p
}

// listedProfile returns an instance profile for lists: without tags.
func (s *core) listedProfile(e *directory.Entity) InstanceProfile {
	p := InstanceProfile{
		Path: e.Path, InstanceProfileName: e.Name, InstanceProfileId: e.ID, Arn: e.ARN(), CreateDate: e.Created,
	}
	for _, id := range e.Roles {
		if role := s.directory.Entity(id); role != nil { // an older program may have deleted it
			shown := s.listedRole(role)
			shown.Description, shown.MaxSessionDuration, shown.MaxSigninSessionDuration = "", 0, 0
			p.Roles = append(p.Roles, shown)
		}
	}
	return p
}

type profileInput struct {
	InstanceProfileName *string  `max:"128"`
	RoleName            *string  `max:"64"`
	Path                *string  `max:"512"`
	Tags                []Tag    `max:"50"     wrap:"member"`
	TagKeys             []string `max:"50,128" wrap:"member"`
	PathPrefix          *string  `max:"512"`
	Marker              *string  `max:"2048"`
	MaxItems            *int32
}

type profileOutput struct{ InstanceProfile InstanceProfile }

func (s profiles) create(ctx context.Context, c *protocol.Call, in *profileInput) (*profileOutput, error) {
	e, err := s.newEntity(c, directory.Profile, in.InstanceProfileName, in.Path, nil, in.Tags)
	if err != nil {
		return nil, err
	}
	if err := s.add(ctx, e, maxProfiles); err != nil {
		return nil, err
	}
	return &profileOutput{s.showProfile(e)}, nil
}

func (s profiles) find(c *protocol.Call, in *profileInput, about subject) (*directory.Entity, error) {
	return s.findFor(c, directory.Profile, in.InstanceProfileName, c.Operation, about)
}

func (s profiles) get(_ context.Context, c *protocol.Call, in *profileInput) (*profileOutput, error) {
	e, err := s.find(c, in, subject{})
	if err != nil {
		return nil, err
	}
	return &profileOutput{s.showProfile(e)}, nil
}

func (s profiles) delete(ctx context.Context, c *protocol.Call, in *profileInput) (*service.Empty, error) {
	return s.remove(ctx, c, directory.Profile, in.InstanceProfileName)
}

type listProfilesOutput struct {
	InstanceProfiles []InstanceProfile `json:",always"    wrap:"member"`
	IsTruncated      bool
	Marker           string `json:",omitempty"`
}

func (s profiles) list(_ context.Context, c *protocol.Call, in *profileInput) (*listProfilesOutput, error) {
	p, err := s.listEntities(c, directory.Profile, "ListInstanceProfiles", in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listProfilesOutput{service.Convert(p.Items, s.listedProfile), p.Next != "", p.Next}, nil
}

func (s profiles) listForRole(_ context.Context, c *protocol.Call, in *profileInput) (*listProfilesOutput, error) {
	role, err := s.core.find(c, directory.Role, in.RoleName, "ListInstanceProfilesForRole")
	if err != nil {
		return nil, err
	}
	p, err := paginate(s.directory.ProfilesOf(role), entityName, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listProfilesOutput{service.Convert(p.Items, s.listedProfile), p.Next != "", p.Next}, nil
}

// pair returns the profile and the role that a request names.
func (s profiles) pair(c *protocol.Call, in *profileInput) (profile, role *directory.Entity, err error) {
	if profile, err = s.find(c, in, subject{}); err != nil {
		return nil, nil, err
	}
	role, err = s.named(directory.Role, profile.Account, orEmpty(in.RoleName))
	return profile, role, err
}

// addRole adds a role to a profile. On AWS that passes the role to a service, which requires iam:PassRole.
func (s profiles) addRole(ctx context.Context, c *protocol.Call, in *profileInput) (*service.Empty, error) {
	profile, role, err := s.pair(c, in)
	if err != nil {
		return nil, err
	}
	if err := s.allow(c, "PassRole", subject{arn: role.ARN(), tags: role.Tags}); err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, profile, func(e *directory.Entity) error {
		e.Roles = slices.DeleteFunc(e.Roles, func(id string) bool { return s.directory.Entity(id) == nil })
		switch {
		case s.directory.Entity(role.ID) == nil:
			return errNoEntity(directory.Role, role.Name)
		case len(e.Roles) >= maxRolesPerProfile:
			return errQuota("InstanceSessionsPerInstanceProfile", maxRolesPerProfile)
		}
		e.Roles = append(e.Roles, role.ID)
		return nil
	})
}

func (s profiles) removeRole(ctx context.Context, c *protocol.Call, in *profileInput) (*service.Empty, error) {
	profile, role, err := s.pair(c, in)
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, profile, func(e *directory.Entity) error {
		i := slices.Index(e.Roles, role.ID)
		if i < 0 {
			return errNotFound("Role %s cannot be found in instance profile %s.", role.Name, profile.Name)
		}
		e.Roles = slices.Delete(e.Roles, i, i+1)
		return nil
	})
}

func (in *profileInput) tags() *tagsInput {
	return &tagsInput{Tags: in.Tags, TagKeys: in.TagKeys, Marker: in.Marker, MaxItems: in.MaxItems}
}

func (s profiles) tag(ctx context.Context, c *protocol.Call, in *profileInput) (*service.Empty, error) {
	added, err := in.tags().added()
	if err != nil {
		return nil, err
	}
	e, err := s.find(c, in, subject{newTags: added})
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) (err error) {
		e.Tags, err = addTags(e.Tags, added)
		return err
	})
}

func (s profiles) untag(ctx context.Context, c *protocol.Call, in *profileInput) (*service.Empty, error) {
	removed, err := in.tags().removed()
	if err != nil {
		return nil, err
	}
	e, err := s.find(c, in, subject{tagKeys: removed})
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		e.Tags = removeTags(e.Tags, removed)
		return nil
	})
}

func (s profiles) listTags(_ context.Context, c *protocol.Call, in *profileInput) (*listTagsOutput, error) {
	e, err := s.find(c, in, subject{})
	if err != nil {
		return nil, err
	}
	return in.tags().page(e.Tags)
}
