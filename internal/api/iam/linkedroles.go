package iam

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// linkedRoles serves the operations about service-linked roles. The roles are stored and listed for programs that
// create them beside what they need here. Their services do not run here, so nothing assumes them, and they have no
// policies.
type linkedRoles struct{ *core }

func (s linkedRoles) register(wire *protocol.Service) {
	protocol.Register(wire, "CreateServiceLinkedRole", s.create, protocol.Control)
	protocol.Register(wire, "DeleteServiceLinkedRole", s.delete, protocol.Control)
	protocol.Register(wire, "GetServiceLinkedRoleDeletionStatus", s.status)
}

// linkedPath is the beginning of the paths of service-linked roles. The name of the service follows.
const linkedPath = "/aws-service-role/"

// linkedPrefix begins the names of service-linked roles.
const linkedPrefix = "AWSServiceRoleFor"

// maxRoleName is how long the name of a role can be.
const maxRoleName = 64

// isLinked reports whether an entity is a service-linked role.
func isLinked(e *directory.Entity) bool {
	return e.Kind == directory.Role && strings.HasPrefix(e.Path, linkedPath) && strings.HasPrefix(e.Name, linkedPrefix)
}

// protected are the actions that AWS leaves to the service of a service-linked role.
var protected = map[string]bool{
	"AttachRolePolicy": true, "DeleteRole": true, "DeleteRolePermissionsBoundary": true, "DeleteRolePolicy": true,
	"DetachRolePolicy": true, "PutRolePermissionsBoundary": true, "PutRolePolicy": true,
	"UpdateAssumeRolePolicy": true,
}

func errProtected(role string) *protocol.Error {
	return service.Modelled("UnmodifiableEntityException", "UnmodifiableEntity", http.StatusBadRequest,
		"Cannot perform the operation on the protected role '%s' - this role is only modifiable by AWS", role)
}

type createLinkedRoleInput struct {
	AWSServiceName *string `max:"128"`
	Description    *string `max:"1000"`
	CustomSuffix   *string `max:"64"`
}

func (s linkedRoles) create(ctx context.Context, c *protocol.Call, in *createLinkedRoleInput) (*roleOutput, error) {
	e, err := s.newLinked(c, in)
	if err != nil {
		return nil, err
	}
	if err := s.addLinked(ctx, e); err != nil {
		return nil, err
	}
	out := &roleOutput{s.showRole(e)}
	out.Role.MaxSessionDuration = 0 // as in the answer of CreateRole
	return out, nil
}

// newLinked returns the role that a request creates, if its parameters are valid and the caller may create it.
func (s linkedRoles) newLinked(c *protocol.Call, in *createLinkedRoleInput) (*directory.Entity, error) {
	owner := orEmpty(in.AWSServiceName)
	of, known := linkedServices[owner]
	name := linkedPrefix + of.name
	if in.CustomSuffix != nil {
		name += "_" + *in.CustomSuffix
	}
	e := directory.NewEntity(directory.Role, service.Caller(c).Account, linkedPath+owner+"/", name, s.now())
	if err := s.allow(c, "CreateServiceLinkedRole", subject{arn: e.ARN(), service: owner}); err != nil {
		return nil, err
	}
	switch {
	case !known:
		return nil, errInput("%s is not known to have service-linked roles.", owner)
	case in.CustomSuffix != nil && !of.suffixed:
		return nil, errInput("Custom suffix is not allowed for %s", owner)
	case len(name) > maxRoleName:
		return nil, errInput("Service role name %s is longer than %d characters.", name, maxRoleName)
	}
	e.Description, e.MaxSession = orEmpty(in.Description), defaultSession*time.Second
	e.Trust = fmt.Sprintf(linkedTrust, owner)
	return e, nil
}

// linkedTrust is the trust policy of a service-linked role.
const linkedTrust = `{"Version":"2012-10-17","Statement":[{"Action":["sts:AssumeRole"],"Effect":"Allow","Principal":{"Service":[%q]}}]}`

// addLinked is add for a service-linked role, which has its own error for a name that is taken.
func (s linkedRoles) addLinked(ctx context.Context, e *directory.Entity) error {
	return s.change(ctx, func(tx *directory.Tx) error {
		if s.directory.Find(e.Kind, e.Account, e.Name) != nil {
			return errInput(
				"Service role name %s has been taken in this account, please try a different suffix.", e.Name,
			)
		}
		if len(s.directory.List(e.Kind, e.Account)) >= maxRoles {
			return errQuota("RolesPerAccount", maxRoles)
		}
		tx.PutEntity(e)
		return nil
	})
}

type deleteLinkedRoleOutput struct{ DeletionTaskId string }

// delete deletes a service-linked role at once. On AWS that is a task, because the service must agree.
func (s linkedRoles) delete(ctx context.Context, c *protocol.Call, in *roleInput) (*deleteLinkedRoleOutput, error) {
	e, err := s.find(c, directory.Role, in.RoleName, "DeleteServiceLinkedRole")
	if err != nil {
		return nil, err
	}
	err = s.change(ctx, func(tx *directory.Tx) error {
		now := s.directory.Entity(e.ID)
		if now == nil || !isLinked(now) {
			return errNoEntity(directory.Role, e.Name)
		}
		if len(s.directory.ProfilesOf(now)) > 0 {
			return errConflict("remove roles from instance profile")
		}
		tx.DeleteEntity(now)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &deleteLinkedRoleOutput{"task" + e.Path + e.Name + "/" + uuid.NewString()}, nil
}

type deletionStatusInput struct {
	DeletionTaskId *string `max:"1000"`
}

type deletionStatusOutput struct{ Status string }

// status returns the status of a deletion. A role that does not exist was deleted.
func (s linkedRoles) status(
	_ context.Context, c *protocol.Call, in *deletionStatusInput,
) (*deletionStatusOutput, error) {
	task, account := orEmpty(in.DeletionTaskId), service.Caller(c).Account
	role, name, ok := roleOfTask(task)
	arn := "arn:aws:iam::" + account + ":role" + service.Shorten(role)
	if err := s.allow(c, "GetServiceLinkedRoleDeletionStatus", subject{arn: arn}); err != nil {
		return nil, err
	}
	if !ok || s.directory.Find(directory.Role, account, name) != nil {
		return nil, errNotFound("Deletion task %s cannot be found.", service.Shorten(task))
	}
	return &deletionStatusOutput{"SUCCEEDED"}, nil
}

// roleOfTask returns the role in the id of a deletion, with and without its path. It reports whether the id has the
// form of one.
func roleOfTask(task string) (path, name string, ok bool) {
	path, isTask := strings.CutPrefix(task, "task")
	i := strings.LastIndexByte(path, '/')
	if !isTask || i < 0 || uuid.Validate(path[i+1:]) != nil {
		return "/", "", false
	}
	path = path[:i]
	name = path[strings.LastIndexByte(path, '/')+1:]
	return path, name, strings.HasPrefix(path, linkedPath) && strings.HasPrefix(name, linkedPrefix)
}
