package sts

import (
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// AssumedRoleUser is a session of a role.
type AssumedRoleUser struct {
	AssumedRoleId string
	Arn           string
}

func showSession(role *directory.Entity, called string) AssumedRoleUser {
	return AssumedRoleUser{
		AssumedRoleId: role.ID + ":" + called,
		Arn:           "arn:aws:sts::" + role.Account + ":assumed-role/" + role.Name + "/" + called,
	}
}

// assumption holds the common parameters of all requests for a role.
type assumption struct {
	RoleArn         *string `max:"2048"`
	RoleSessionName *string `max:"64"`
	restrictions
	tokenSize
	DurationSeconds *int32
}

// seconds returns the requested length of the session.
func (in *assumption) seconds() int32 {
	if in.DurationSeconds != nil {
		return *in.DurationSeconds
	}
	return defaultOfRoles
}

// account returns the account in the ARN of the role, which need not exist.
func (in *assumption) account() (string, error) {
	parts := strings.SplitN(*in.RoleArn, ":", 6)
	switch {
	case len(parts) < 6 || parts[0] != "arn":
		return "", protocol.ValidationError("%s is invalid", service.Shorten(*in.RoleArn))
	case parts[2] != "iam" || !identity.IsAccount(parts[4]):
		return "", protocol.ValidationError("Request ARN is invalid")
	}
	return parts[4], nil
}

// role returns the requested role and its trust policy, or false.
func (s *Service) role(c *protocol.Call, arn string) (*directory.Entity, *policy.Policy, bool) {
	c.Notes.Set("target", service.Shorten(arn))
	role := s.directory.ByARN(arn)
	if role == nil || role.Kind != directory.Role {
		return nil, nil, false
	}
	trust, ok := s.directory.Trust(role)
	return role, trust, ok
}

// checkLength refuses a session that would last longer than its role allows.
func (in *assumption) checkLength(role *directory.Entity) error {
	if in.DurationSeconds != nil && time.Duration(*in.DurationSeconds)*time.Second > role.MaxSession {
		return protocol.ValidationError("The requested DurationSeconds exceeds the MaxSessionDuration set for this role.")
	}
	return nil
}

// asked holds the values of STS's condition keys in a request for a role.
type asked struct {
	called   string // name of the session
	external *string
	limits   *limits
	shown    time.Time // when the request has shown a second factor; zero if it has not
}

// actions returns the actions that the caller needs permission for.
func (a *asked) actions(first string) []string {
	actions := []string{first}
	if len(a.limits.Tags) > 0 {
		actions = append(actions, "sts:TagSession")
	}
	if a.limits.SourceIdentity != "" {
		actions = append(actions, "sts:SetSourceIdentity")
	}
	return actions
}

func (a *asked) lookup(key string) (policy.Value, bool) {
	switch key {
	case "sts:rolesessionname":
		return policy.Text(a.called), true
	case "sts:externalid":
		if a.external != nil {
			return policy.Text(*a.external), true
		}
	case "sts:sourceidentity":
		return policy.Text(a.limits.SourceIdentity), a.limits.SourceIdentity != ""
	case "sts:transitivetagkeys":
		return policy.List(a.limits.Transitive), len(a.limits.Transitive) > 0
	}
	return policy.Value{}, false
}
