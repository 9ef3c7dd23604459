package iam

import (
	"context"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// User is a user as clients see it.
type User struct {
	Path                string `json:",omitempty"` // roots have neither path nor name
	UserName            string `json:",omitempty"`
	UserId              string
	Arn                 string
	CreateDate          time.Time
	PasswordLastUsed    *time.Time
	PermissionsBoundary *Boundary
	Tags                []Tag `                  wrap:"member"`
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

// listedUser returns a user for lists: without boundary and tags.
func (s *core) listedUser(e *directory.Entity) User {
	u := showUser(e)
	u.PasswordLastUsed, u.PermissionsBoundary, u.Tags = s.passwordUsed(e), nil, nil
	return u
}

// passwordUsed returns when a user last signed in to the console by password, or nil.
func (s *core) passwordUsed(user *directory.Entity) *time.Time {
	if u, _ := s.directory.LastUse(user); !u.Services[directory.SignIn].At.IsZero() {
		at := u.Services[directory.SignIn].At
		return &at
	}
	return nil
}

// users serves the operations about users.
type users struct{ *core }

func (s users) register(wire *protocol.Service) {
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
	Tags                []Tag   `max:"50"   wrap:"member"`
}

type userOutput struct{ User User }

func (s users) createUser(ctx context.Context, c *protocol.Call, in *createUserInput) (*userOutput, error) {
	e, err := s.newEntity(c, directory.User, in.UserName, in.Path, in.PermissionsBoundary, in.Tags)
	if err != nil {
		return nil, err
	}
	if err := s.add(ctx, e, maxUsers); err != nil {
		return nil, err
	}
	return &userOutput{showUser(e)}, nil
}

type userInput struct {
	UserName *string `max:"128"`
}

func (s users) getUser(_ context.Context, c *protocol.Call, in *userInput) (*userOutput, error) {
	if in.UserName == nil {
		id := service.Caller(c)
		switch id.Kind {
		case policy.Account:
			if err := s.allow(c, "GetUser", subject{arn: id.ARN}); err != nil {
				return nil, err
			}
			return &userOutput{User{UserId: id.UserID, Arn: id.ARN, CreateDate: time.Unix(0, 0)}}, nil
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
	out := &userOutput{showUser(e)}
	out.User.PasswordLastUsed = s.passwordUsed(e)
	return out, nil
}

type updateUserInput struct {
	UserName    *string `max:"128"`
	NewPath     *string `max:"512"`
	NewUserName *string `max:"64"`
}

func (s users) updateUser(ctx context.Context, c *protocol.Call, in *updateUserInput) (*service.Empty, error) {
	return s.rename(ctx, c, directory.User, in.UserName, in.NewUserName, in.NewPath)
}

func (s users) deleteUser(ctx context.Context, c *protocol.Call, in *userInput) (*service.Empty, error) {
	return s.remove(ctx, c, directory.User, in.UserName)
}

type listUsersInput struct {
	PathPrefix *string `max:"512"`
	Marker     *string `max:"2048"`
	MaxItems   *int32
}

type listUsersOutput struct {
	Users       []User `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s users) listUsers(_ context.Context, c *protocol.Call, in *listUsersInput) (*listUsersOutput, error) {
	p, err := s.listEntities(c, directory.User, "ListUsers", in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listUsersOutput{service.Convert(p.Items, s.listedUser), p.Next != "", p.Next}, nil
}
