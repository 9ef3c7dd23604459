package iam

import (
	"context"
	"fmt"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/control"
)

// User is a user as clients see it.
type User struct {
	Path                string
	UserName            string `json:",omitempty"` // roots have none
	UserId              string
	Arn                 string
	CreateDate          time.Time
	PermissionsBoundary *Boundary
	Tags                []Tag `wrap:"member"`
}

// Boundary names the managed policy that limits what an entity's policies can allow.
type Boundary struct {
	PermissionsBoundaryType string
	PermissionsBoundaryArn  string
}

func boundaryOf(e *directory.Entity) *Boundary {
	if e.Boundary == "" {
		return nil
	}
	return &Boundary{PermissionsBoundaryType: "Policy", PermissionsBoundaryArn: e.Boundary}
}

func showUser(e *directory.Entity) User {
	return User{
		Path: e.Path, UserName: e.Name, UserId: e.ID, Arn: e.ARN(), CreateDate: e.Created,
		PermissionsBoundary: boundaryOf(e), Tags: service.TagList(e.Tags),
	}
}

// listedUser returns a user as lists show it: without boundary and tags.
func listedUser(e *directory.Entity) User {
	u := showUser(e)
	u.PermissionsBoundary, u.Tags = nil, nil
	return u
}

func (s *Service) registerUsers(wire *protocol.Service) {
	protocol.Register(wire, "CreateUser", s.createUser, protocol.Control)
	protocol.Register(wire, "GetUser", s.getUser)
	protocol.Register(wire, "UpdateUser", s.updateUser, protocol.Control)
	protocol.Register(wire, "DeleteUser", s.deleteUser, protocol.Control)
	protocol.Register(wire, "ListUsers", s.listUsers)
}

type createUserInput struct {
	UserName            *string `max:"64"`
	Path                *string `max:"512"`
	PermissionsBoundary *string `max:"2048"`
	Tags                []Tag   `wrap:"member" max:"50"`
}

type userOutput struct{ User User }

func (s *Service) createUser(ctx context.Context, c *protocol.Call, in *createUserInput) (*userOutput, error) {
	e, err := s.newEntity(c, directory.User, in.UserName, in.Path, in.PermissionsBoundary, in.Tags)
	if err != nil {
		return nil, err
	}
	if err := s.add(ctx, e, maxUsers); err != nil {
		return nil, err
	}
	return &userOutput{showUser(e)}, nil
}

// newEntity returns the entity that a request asks for, if its parameters are
// valid and the caller may make it.
func (s *Service) newEntity(c *protocol.Call, kind directory.Kind, name, path, boundary *string, tags []Tag) (*directory.Entity, error) {
	written, err := checkName(string(kind)+"Name", name, longest[kind])
	if err != nil {
		return nil, err
	}
	folder, err := checkPath("path", path)
	if err != nil {
		return nil, err
	}
	e := directory.NewEntity(kind, service.Caller(c).Account, folder, written, s.now())
	if e.Tags, err = checkTags(tags); err != nil {
		return nil, err
	}
	if boundary != nil {
		e.Boundary = *boundary
	}
	if err := s.allow(c, "Create"+words[kind], subject{arn: e.ARN(), newTags: e.Tags, boundary: e.Boundary}); err != nil {
		return nil, err
	}
	if e.Boundary != "" && s.policyOf(service.Caller(c).Account, e.Boundary) == nil {
		return nil, errUnattachable(service.Shorten(e.Boundary))
	}
	return e, nil
}

// add stores a new entity, unless its name is taken.
func (s *Service) add(ctx context.Context, e *directory.Entity, quota int) error {
	return s.change(ctx, func(tx *directory.Tx) error {
		if s.directory.Find(e.Kind, e.Account, e.Name) != nil {
			return errExists("%s with name %s already exists.", words[e.Kind], e.Name)
		}
		if len(s.directory.List(e.Kind, e.Account)) >= quota {
			return errQuota(words[e.Kind]+"sPerAccount", quota)
		}
		tx.PutEntity(e)
		return nil
	})
}

// edit changes an entity that was found. If another request has deleted it
// meanwhile, the error says that it cannot be found.
func (s *Service) edit(ctx context.Context, e *directory.Entity, change func(e *directory.Entity) error) error {
	_, err := s.edited(ctx, e, change)
	return err
}

// edited is edit, and returns the entity as it is then.
func (s *Service) edited(ctx context.Context, e *directory.Entity, change func(e *directory.Entity) error) (*directory.Entity, error) {
	return control.Decide(ctx, s.change, func(tx *directory.Tx) (*directory.Entity, error) {
		now := s.directory.Entity(e.ID)
		if now == nil {
			return nil, errNoEntity(e.Kind, e.Name)
		}
		now = now.Clone()
		if err := change(now); err != nil {
			return nil, err
		}
		tx.PutEntity(now)
		return now, nil
	})
}

type userInput struct {
	UserName *string `max:"128"`
}

func (s *Service) getUser(_ context.Context, c *protocol.Call, in *userInput) (*userOutput, error) {
	if in.UserName == nil {
		id := service.Caller(c)
		switch id.Kind {
		case policy.Account:
			if err := s.allow(c, "GetUser", subject{arn: id.ARN}); err != nil {
				return nil, err
			}
			return &userOutput{User{Path: "/", UserId: id.UserID, Arn: id.ARN, CreateDate: time.Unix(0, 0)}}, nil
		case policy.User:
			in.UserName = &id.UserName
		default:
			return nil, errMustName()
		}
	}
	e, err := s.find(c, directory.User, in.UserName, "GetUser")
	if err != nil {
		return nil, err
	}
	return &userOutput{showUser(e)}, nil
}

// errMustName asks a caller that is not a user to name the user that it means.
func errMustName() error {
	return protocol.ValidationError("Must specify userName when calling with non-User credentials")
}

type updateUserInput struct {
	UserName    *string `max:"128"`
	NewPath     *string `max:"512"`
	NewUserName *string `max:"64"`
}

func (s *Service) updateUser(ctx context.Context, c *protocol.Call, in *updateUserInput) (*service.Empty, error) {
	return s.rename(ctx, c, directory.User, in.UserName, in.NewUserName, in.NewPath)
}

// rename gives an entity another name or path, if the caller may update both the
// old ARN and the new one.
func (s *Service) rename(ctx context.Context, c *protocol.Call, kind directory.Kind, name, newName, newPath *string) (*service.Empty, error) {
	action := "Update" + words[kind]
	e, err := s.find(c, kind, name, action)
	if err != nil {
		return nil, err
	}
	next := e.Clone()
	if newName != nil {
		if next.Name, err = checkName("new"+words[kind]+"Name", newName, longest[kind]); err != nil {
			return nil, err
		}
	}
	if newPath != nil {
		if next.Path, err = checkPath("newPath", newPath); err != nil {
			return nil, err
		}
	}
	if err := s.allow(c, action, subject{arn: next.ARN(), tags: e.Tags}); err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		if other := s.directory.Find(kind, e.Account, next.Name); other != nil && other.ID != e.ID {
			return errExists("%s with name %s already exists.", words[kind], next.Name)
		}
		e.Name, e.Path = next.Name, next.Path
		return nil
	})
}

func (s *Service) deleteUser(ctx context.Context, c *protocol.Call, in *userInput) (*service.Empty, error) {
	return s.remove(ctx, c, directory.User, in.UserName)
}

// remove deletes an entity that has neither keys, a password, second factors, groups, members nor policies.
func (s *Service) remove(ctx context.Context, c *protocol.Call, kind directory.Kind, name *string) (*service.Empty, error) {
	e, err := s.find(c, kind, name, "Delete"+words[kind])
	if err != nil {
		return nil, err
	}
	return nil, s.change(ctx, func(tx *directory.Tx) error {
		now := s.directory.Entity(e.ID)
		switch {
		case now == nil:
			return errNoEntity(kind, e.Name)
		case len(s.directory.Keys(now)) > 0:
			return errConflict("delete access keys")
		case s.logins.Profile(now.ID) != nil:
			return errConflict("delete login profile")
		case len(s.logins.DevicesOf(now.Account, now.ID)) > 0:
			return errConflict("deactivate MFA device")
		case len(now.Groups) > 0:
			return errConflict("remove users from group")
		case kind == directory.Group && len(s.directory.Members(now)) > 0:
			return errConflict("remove users from group")
		case len(now.Attached) > 0:
			return errConflict("detach all policies")
		case len(now.Inline) > 0:
			return errConflict("delete policies")
		}
		tx.DeleteEntity(now)
		return nil
	})
}

type listUsersInput struct {
	PathPrefix *string `max:"512"`
	Marker     *string `max:"2048"`
	MaxItems   *int32
}

type listUsersOutput struct {
	Users       []User `json:",always" wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s *Service) listUsers(_ context.Context, c *protocol.Call, in *listUsersInput) (*listUsersOutput, error) {
	p, err := s.listEntities(c, directory.User, "ListUsers", in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listUsersOutput{service.Convert(p.Items, listedUser), p.Next != "", p.Next}, nil
}

func (s *Service) listEntities(
	c *protocol.Call, kind directory.Kind, action string, prefix, marker *string, maxItems *int32,
) (service.Page[*directory.Entity], error) {
	account := service.Caller(c).Account
	folder := "/"
	if prefix != nil {
		folder = *prefix
	}
	arn := fmt.Sprintf("arn:aws:iam::%s:%s%s", account, kind, service.Shorten(folder))
	if err := s.allow(c, action, subject{arn: arn}); err != nil {
		return service.Page[*directory.Entity]{}, err
	}
	all := service.Filter(s.directory.List(kind, account), func(e *directory.Entity) bool { return prefixed(e.Path, prefix) })
	return paginate(all, entityName, marker, maxItems)
}

func entityName(e *directory.Entity) string { return e.Name }
