package iam

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// attachments serves the operations that attach managed policies to users, groups and roles.
type attachments struct{ *core }

func (s attachments) register(wire *protocol.Service) {
	each(wire, "Attach", "Policy", s.attach, allKinds, protocol.Control)
	each(wire, "Detach", "Policy", s.detach, allKinds, protocol.Control)
	each(wire, "ListAttached", "Policies", s.listAttached, allKinds)
	each(wire, "Put", "PermissionsBoundary", s.putBoundary, boundKinds, protocol.Control)
	each(wire, "Delete", "PermissionsBoundary", s.deleteBoundary, boundKinds, protocol.Control)
}

// attachedInput names an entity of any kind: one of the three names is set.
type attachedInput struct {
	UserName   *string `max:"128"`
	GroupName  *string `max:"128"`
	RoleName   *string `max:"64"`
	PolicyArn  *string `max:"2048"`
	PathPrefix *string `max:"512"`
	Marker     *string `max:"2048"`
	MaxItems   *int32
}

func (in *attachedInput) name(k directory.Kind) *string {
	return pick(k, in.UserName, in.GroupName, in.RoleName)
}

func (s attachments) attach(
	ctx context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *attachedInput,
) (*service.Empty, error) {
	e, arn, err := s.attachment(k, action, c, in)
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		switch {
		case s.policyOf(e.Account, arn) == nil:
			return errUnattachable(arn)
		case slices.Contains(e.Attached, arn):
			return nil
		case len(e.Attached) >= maxAttached:
			return errQuota("PoliciesPer"+words[k], maxAttached)
		}
		e.Attached = append(e.Attached, arn)
		return nil
	})
}

// attachment returns the entity and the policy that a request names, if the
// caller may attach or detach them.
func (s attachments) attachment(
	k directory.Kind, action string, c *protocol.Call, in *attachedInput,
) (*directory.Entity, string, error) {
	arn := orEmpty(in.PolicyArn)
	if !isARN(arn) {
		return nil, "", protocol.ValidationError("Invalid ARN:  Could not be parsed!")
	}
	e, err := s.findFor(c, k, in.name(k), action, subject{policy: arn})
	return e, service.Shorten(arn), err
}

func (s attachments) detach(
	ctx context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *attachedInput,
) (*service.Empty, error) {
	e, arn, err := s.attachment(k, action, c, in)
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		i := slices.Index(e.Attached, arn)
		if i < 0 {
			return errNoPolicy(arn)
		}
		e.Attached = slices.Delete(e.Attached, i, i+1)
		return nil
	})
}

// AttachedPolicy names a managed policy.
type AttachedPolicy struct{ PolicyName, PolicyArn string }

type listAttachedOutput struct {
	AttachedPolicies []AttachedPolicy `json:",always"    wrap:"member"`
	IsTruncated      bool
	Marker           string `json:",omitempty"`
}

func (s attachments) listAttached(
	_ context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *attachedInput,
) (*listAttachedOutput, error) {
	e, err := s.find(c, k, in.name(k), action)
	if err != nil {
		return nil, err
	}
	p, err := paginate(
		s.attachedTo(e, in.PathPrefix), func(a AttachedPolicy) string { return a.PolicyArn }, in.Marker, in.MaxItems,
	)
	if err != nil {
		return nil, err
	}
	return &listAttachedOutput{p.Items, p.Next != "", p.Next}, nil
}

// attachedTo returns the managed policies of an entity below a path, sorted by ARN.
func (s *core) attachedTo(e *directory.Entity, prefix *string) (all []AttachedPolicy) {
	for _, arn := range e.Attached {
		if m := s.directory.Policy(arn); m != nil && prefixed(m.Path, prefix) {
			all = append(all, AttachedPolicy{m.Name, arn})
		}
	}
	slices.SortFunc(all, func(a, b AttachedPolicy) int { return cmp.Compare(a.PolicyArn, b.PolicyArn) })
	return all
}

type boundaryInput struct {
	UserName            *string `max:"128"`
	RoleName            *string `max:"64"`
	PermissionsBoundary *string `max:"2048"`
}

func (s attachments) putBoundary(
	ctx context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *boundaryInput,
) (*service.Empty, error) {
	arn := orEmpty(in.PermissionsBoundary)
	e, err := s.findFor(c, k, pick(k, in.UserName, nil, in.RoleName), action, subject{boundary: arn})
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		if s.policyOf(e.Account, arn) == nil {
			return errNoBoundary(service.Shorten(arn))
		}
		e.Boundary = arn
		return nil
	})
}

func (s attachments) deleteBoundary(
	ctx context.Context,
	k directory.Kind,
	action string,
	c *protocol.Call,
	in *boundaryInput,
) (*service.Empty, error) {
	e, err := s.find(c, k, pick(k, in.UserName, nil, in.RoleName), action)
	if err != nil {
		return nil, err
	}
	return nil, s.edit(ctx, e, func(e *directory.Entity) error {
		if e.Boundary == "" {
			return errNotFound("%s with name %s does not have a permissions boundary.", words[k], e.Name)
		}
		e.Boundary = ""
		return nil
	})
}
