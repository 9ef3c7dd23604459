package iam

import (
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Group is a group as clients see it.
type Group struct {
	Path       string
	GroupName  string
	GroupId    string
	Arn        string
	CreateDate time.Time
}

func showGroup(e *directory.Entity) Group {
	return Group{Path: e.Path, GroupName: e.Name, GroupId: e.ID, Arn: e.ARN(), CreateDate: e.Created}
}

// groups serves the operations about groups and their members.
type groups struct{ *core }

func (s groups) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateGroup", s.createGroup, protocol.Control)
	protocol.Register(wire, "GetGroup", s.getGroup)
	protocol.Register(wire, "UpdateGroup", s.updateGroup, protocol.Control)
	protocol.Register(wire, "DeleteGroup", s.deleteGroup, protocol.Control)
	protocol.Register(wire, "ListGroups", s.listGroups)
	protocol.Register(wire, "ListGroupsForUser", s.listGroupsForUser)
	protocol.Register(wire, "AddUserToGroup", s.addUserToGroup, protocol.Control)
	protocol.Register(wire, "RemoveUserFromGroup", s.removeUserFromGroup, protocol.Control)
}

type createGroupInput struct {
	GroupName *string `max:"128"`
	Path      *string `max:"512"`
}

type groupOutput struct{ Group Group }

func (s groups) createGroup(ctx context.Context, c *protocol.Call, in *createGroupInput) (*groupOutput, error) {
	e, err := s.newEntity(c, directory.Group, in.GroupName, in.Path, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := s.add(ctx, e, maxGroups); err != nil {
		return nil, err
	}
	return &groupOutput{showGroup(e)}, nil
}

type getGroupInput struct {
	GroupName *string `max:"128"`
	Marker    *string `max:"2048"`
	MaxItems  *int32
}

type getGroupOutput struct {
	Group       Group
	Users       []User `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s groups) getGroup(_ context.Context, c *protocol.Call, in *getGroupInput) (*getGroupOutput, error) {
	group, err := s.find(c, directory.Group, in.GroupName, "GetGroup")
	if err != nil {
		return nil, err
	}
	p, err := paginate(s.directory.Members(group), entityName, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &getGroupOutput{showGroup(group), service.Convert(p.Items, s.listedUser), p.Next != "", p.Next}, nil
}

type updateGroupInput struct {
	GroupName    *string `max:"128"`
	NewPath      *string `max:"512"`
	NewGroupName *string `max:"128"`
}

func (s groups) updateGroup(ctx context.Context, c *protocol.Call, in *updateGroupInput) (*service.Empty, error) {
	return s.rename(ctx, c, directory.Group, in.GroupName, in.NewGroupName, in.NewPath)
}

type groupInput struct {
	GroupName *string `max:"128"`
}

func (s groups) deleteGroup(ctx context.Context, c *protocol.Call, in *groupInput) (*service.Empty, error) {
	return s.remove(ctx, c, directory.Group, in.GroupName)
}

type listGroupsInput struct {
	PathPrefix *string `max:"512"`
	Marker     *string `max:"2048"`
	MaxItems   *int32
}

type listGroupsOutput struct {
	Groups      []Group `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s groups) listGroups(_ context.Context, c *protocol.Call, in *listGroupsInput) (*listGroupsOutput, error) {
	p, err := s.listEntities(c, directory.Group, "ListGroups", in.PathPrefix, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listGroupsOutput{service.Convert(p.Items, showGroup), p.Next != "", p.Next}, nil
}

type groupsForUserInput struct {
	UserName *string `max:"128"`
	Marker   *string `max:"2048"`
	MaxItems *int32
}

func (s groups) listGroupsForUser(
	_ context.Context, c *protocol.Call, in *groupsForUserInput,
) (*listGroupsOutput, error) {
	user, err := s.find(c, directory.User, in.UserName, "ListGroupsForUser")
	if err != nil {
		return nil, err
	}
	p, err := paginate(s.directory.Groups(user), entityName, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listGroupsOutput{service.Convert(p.Items, showGroup), p.Next != "", p.Next}, nil
}

type membershipInput struct {
	GroupName *string `max:"128"`
	UserName  *string `max:"128"`
}

// membership returns the group and the user that a request names.
func (s groups) membership(
	c *protocol.Call, in *membershipInput, action string,
) (group, user *directory.Entity, err error) {
	if group, err = s.find(c, directory.Group, in.GroupName, action); err != nil {
		return nil, nil, err
	}
	user, err = s.named(directory.User, group.Account, orEmpty(in.UserName))
	return group, user, err
}

func (s groups) addUserToGroup(ctx context.Context, c *protocol.Call, in *membershipInput) (*service.Empty, error) {
	group, user, err := s.membership(c, in, "AddUserToGroup")
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, user, func(user *directory.Entity) error {
		switch {
		case s.directory.Entity(group.ID) == nil:
			return errNoEntity(directory.Group, group.Name)
		case slices.Contains(user.Groups, group.ID):
			return nil
		case len(user.Groups) >= maxGroupsPerUser:
			return errQuota("GroupsPerUser", maxGroupsPerUser)
		}
		user.Groups = append(user.Groups, group.ID)
		return nil
	})
}

func (s groups) removeUserFromGroup(
	ctx context.Context, c *protocol.Call, in *membershipInput,
) (*service.Empty, error) {
	group, user, err := s.membership(c, in, "RemoveUserFromGroup")
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, user, func(user *directory.Entity) error {
		i := slices.Index(user.Groups, group.ID)
		if i < 0 {
			return errNotFound("User %s is not in group %s.", user.Name, group.Name)
		}
		user.Groups = slices.Delete(user.Groups, i, i+1)
		return nil
	})
}
