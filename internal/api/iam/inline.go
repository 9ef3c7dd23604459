package iam

import (
	"context"
	"maps"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// inline serves the operations about the policies that are part of a user, group or role.
type inline struct{ *core }

func (s inline) register(wire *protocol.Service) {
	each(wire, "Put", "Policy", s.putInline, allKinds, protocol.Control)
	each(wire, "Get", "Policy", s.getInline, allKinds)
	each(wire, "Delete", "Policy", s.deleteInline, allKinds, protocol.Control)
	each(wire, "List", "Policies", s.listInline, allKinds)
}

// inlineInput names an entity of any kind: one of the three names is set.
type inlineInput struct {
	UserName       *string `max:"128"`
	GroupName      *string `max:"128"`
	RoleName       *string `max:"64"`
	PolicyName     *string `max:"128"`
	PolicyDocument *string `max:"128K"`
	Marker         *string `max:"2048"`
	MaxItems       *int32
}

func (in *inlineInput) name(k directory.Kind) *string {
	return pick(k, in.UserName, in.GroupName, in.RoleName)
}

func pick(k directory.Kind, user, group, role *string) *string {
	switch k {
	case directory.User:
		return user
	case directory.Group:
		return group
	}
	return role
}

// inlineLimits limit the total size of all inline policies of an entity.
var inlineLimits = map[directory.Kind]int{
	directory.User: policy.MaxUserInline, directory.Group: policy.MaxGroupInline, directory.Role: policy.MaxRoleInline,
}

func (s inline) putInline(
	ctx context.Context, k directory.Kind, action string, c *protocol.Call, in *inlineInput,
) (*service.Empty, error) {
	text := orEmpty(in.PolicyDocument)
	name := orEmpty(in.PolicyName)
	e, err := s.find(c, k, in.name(k), action)
	if err != nil {
		return nil, err
	}
	p, err := policy.Parse(policy.ForIdentity, text)
	tooLarge := errLimit("Maximum policy size of %d bytes exceeded for %s %s", inlineLimits[k], k, e.Name)
	if err != nil {
		return nil, service.DocumentError(err, tooLarge)
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		taken := 0
		for other, text := range e.Inline {
			if other != name {
				taken += sizeOf(text)
			}
		}
		if err := p.CheckIAM(inlineLimits[k], taken); err != nil {
			return service.DocumentError(err, tooLarge)
		}
		if e.Inline == nil {
			e.Inline = make(map[string]string)
		}
		e.Inline[name] = text
		s.warn(p, e.ARN())
		return nil
	})
}

// sizeOf returns how much of the quota a stored document uses.
func sizeOf(text string) int {
	p, err := policy.Parse(policy.ForIdentity, text)
	if err != nil {
		return len(text)
	}
	return p.Size()
}

type inlineOutput struct {
	UserName       string `json:",omitempty"`
	GroupName      string `json:",omitempty"`
	RoleName       string `json:",omitempty"`
	PolicyName     string
	PolicyDocument string
}

func (s inline) getInline(
	_ context.Context, k directory.Kind, action string, c *protocol.Call, in *inlineInput,
) (*inlineOutput, error) {
	name := orEmpty(in.PolicyName)
	e, err := s.find(c, k, in.name(k), action)
	if err != nil {
		return nil, err
	}
	text, ok := e.Inline[name]
	if !ok {
		return nil, errNoInline(k, name)
	}
	out := &inlineOutput{PolicyName: name, PolicyDocument: escape(text)}
	owner := map[directory.Kind]*string{
		directory.User: &out.UserName, directory.Group: &out.GroupName, directory.Role: &out.RoleName,
	}[k]
	*owner = e.Name
	return out, nil
}

func errNoInline(k directory.Kind, name string) error {
	return errNotFound("The %s policy with name %s cannot be found.", k, service.Shorten(name))
}

func (s inline) deleteInline(
	ctx context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *inlineInput,
) (*service.Empty, error) {
	name := orEmpty(in.PolicyName)
	e, err := s.find(c, k, in.name(k), action)
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		if _, ok := e.Inline[name]; !ok {
			return errNoInline(k, name)
		}
		delete(e.Inline, name)
		return nil
	})
}

type listInlineOutput struct {
	PolicyNames []string `json:",always"    wrap:"member"`
	IsTruncated bool
	Marker      string `json:",omitempty"`
}

func (s inline) listInline(
	_ context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *inlineInput,
) (*listInlineOutput, error) {
	e, err := s.find(c, k, in.name(k), action)
	if err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(e.Inline))
	p, err := paginate(names, func(name string) string { return name }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	return &listInlineOutput{p.Items, p.Next != "", p.Next}, nil
}
