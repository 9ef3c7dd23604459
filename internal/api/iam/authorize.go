package iam

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

var rules = &policy.Rules{Vendor: "iam"}

// subject is the subject of a request, for policies.
type subject struct {
	arn      string
	shown    string            // in a refusal; empty: the ARN
	tags     map[string]string // that it has
	newTags  map[string]string // that the request sets
	tagKeys  []string          // of tags that the request removes
	policy   string            // ARN of the managed policy to attach or detach
	boundary string            // ARN of the boundary to set, or that the target has
	service  string            // that the role to create is linked to
}

// allow checks that the caller may take the action. It is called before anything is reported about the subject.
func (s *core) allow(c *protocol.Call, action string, about subject) error {
	if id := service.Caller(c); id.NoIAM() {
		return protocol.UnrecognizedClient()
	}
	if about.arn != anything {
		c.Notes.Set("target", about.arn)
	}
	if about.policy != "" {
		c.Notes.Set("policy", about.policy)
	}
	return s.authorizer.Authorize(c, service.Subject{
		Resource: service.ARN(about.arn), Tags: about.tags, NewTags: about.newTags, TagKeys: about.tagKeys,
		Lookup: about.lookup, Shown: about.shown,
	}, "iam:"+action)
}

// allowNew checks that the caller may create a resource of a type, with the tags that the request gives it.
func (s *core) allowNew(c *protocol.Call, kind string, about subject) error {
	if err := s.allow(c, "Create"+kind, about); err != nil {
		return err
	}
	return s.allowTags(c, "Tag"+kind, about)
}

// allowTags checks that the caller may take the action if the request sets tags.
func (s *core) allowTags(c *protocol.Call, action string, about subject) error {
	if len(about.newTags) == 0 {
		return nil
	}
	about.boundary = ""
	return s.allow(c, action, about)
}

// anything is the resource of operations without a particular resource.
const anything = "*"

// ofTarget are the actions for which iam:PermissionsBoundary is the target's boundary. For actions that set a boundary
// it is the new one, and for others the key is absent, as on AWS.
var ofTarget = map[string]bool{
	"AttachUserPolicy": true, "DetachUserPolicy": true, "PutUserPolicy": true, "DeleteUserPolicy": true,
	"AttachRolePolicy": true, "DetachRolePolicy": true, "PutRolePolicy": true, "DeleteRolePolicy": true,
	"DeleteUserPermissionsBoundary": true, "DeleteRolePermissionsBoundary": true,
}

// lookup returns the value of a condition key that only IAM has.
func (about *subject) lookup(name string) (policy.Value, bool) {
	switch name {
	case "iam:policyarn":
		return policy.Text(about.policy), about.policy != ""
	case "iam:permissionsboundary":
		return policy.Text(about.boundary), about.boundary != ""
	case "iam:awsservicename":
		return policy.Text(about.service), about.service != ""
	}
	return policy.Value{}, false
}

// find returns the entity that a request names, if the caller may take the
// action on it.
func (s *core) find(c *protocol.Call, kind directory.Kind, name *string, action string) (*directory.Entity, error) {
	return s.findFor(c, kind, name, action, subject{})
}

func (s *core) findFor(
	c *protocol.Call, kind directory.Kind, name *string, action string, about subject,
) (*directory.Entity, error) {
	written := orEmpty(name)
	account := service.Caller(c).Account
	e, missing := s.named(kind, account, written)
	about.arn = "arn:aws:iam::" + account + ":" + string(kind) + "/" + service.Shorten(written)
	about.shown = shownAs(strings.ReplaceAll(string(kind), "-", " "), action, service.Shorten(written))
	if e != nil {
		about.arn, about.tags = e.ARN(), e.Tags
		if ofTarget[action] {
			about.boundary = e.Boundary
		}
	}
	if err := s.allow(c, action, about); err != nil {
		return nil, err
	}
	if e != nil && protected[action] && isLinked(e) {
		return nil, errProtected(e.Name)
	}
	return e, missing
}

// shownAs returns how AWS names an entity in the refusal of an action: not by its ARN, except for changes of tags.
func shownAs(kind, action, name string) string {
	if strings.HasPrefix(action, "Tag") || strings.HasPrefix(action, "Untag") {
		return ""
	}
	return kind + " " + name
}

// named returns the entity with exactly this name. Names that differ only in case are equal for creation, and different
// for lookups.
func (s *core) named(kind directory.Kind, account, name string) (*directory.Entity, error) {
	if e := s.directory.Find(kind, account, name); e != nil && e.Name == name {
		return e, nil
	}
	return nil, errNoEntity(kind, service.Shorten(name))
}

// userOrCaller returns the user that a request names, or otherwise the caller.
func (s *core) userOrCaller(c *protocol.Call, name *string, action string) (*directory.Entity, error) {
	if id := service.Caller(c); name == nil {
		if id.Kind != policy.User {
			return nil, errMustName()
		}
		name = &id.UserName
	}
	return s.find(c, directory.User, name, action)
}

// errMustName asks a caller that is not a user to name the user.
func errMustName() error {
	return protocol.ValidationError("Must specify userName when calling with non-User credentials")
}

// policyOf returns a managed policy that an account can use, or nil.
func (s *core) policyOf(account, arn string) *directory.Managed {
	m := s.directory.Policy(arn)
	if m == nil || m.Account != account && m.Account != "aws" {
		return nil
	}
	return m
}
