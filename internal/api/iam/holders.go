package iam

import (
	"cmp"
	"context"
	"slices"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

type listEntitiesForPolicyInput struct {
	PolicyArn         *string `max:"2048"`
	EntityFilter      *string `max:"64"`
	PathPrefix        *string `max:"512"`
	PolicyUsageFilter *string `max:"64"`
	Marker            *string `max:"2048"`
	MaxItems          *int32
}

// PolicyUser, PolicyGroup and PolicyRole name an entity that has a policy.
type (
	PolicyUser  struct{ UserName, UserId string }
	PolicyGroup struct{ GroupName, GroupId string }
	PolicyRole  struct{ RoleName, RoleId string }
)

type listEntitiesForPolicyOutput struct {
	PolicyGroups []PolicyGroup `json:",always"    wrap:"member"`
	PolicyUsers  []PolicyUser  `json:",always"    wrap:"member"`
	PolicyRoles  []PolicyRole  `json:",always"    wrap:"member"`
	IsTruncated  bool
	Marker       string `json:",omitempty"`
}

func (s policies) listEntitiesForPolicy(
	_ context.Context,
	c *protocol.Call,
	in *listEntitiesForPolicyInput,
) (*listEntitiesForPolicyOutput, error) {
	m, err := s.managed(c, in.PolicyArn, "ListEntitiesForPolicy")
	if err != nil {
		return nil, err
	}
	all, bounded := s.holders(service.Caller(c).Account, m)
	switch {
	case in.PolicyUsageFilter == nil:
		all = append(all, bounded...)
	case *in.PolicyUsageFilter == usedAsBoundary:
		all = bounded
	}
	order := func(e *directory.Entity) string { return string(e.Kind) + "/" + e.Name + "/" + e.ID }
	slices.SortFunc(all, func(a, b *directory.Entity) int { return cmp.Compare(order(a), order(b)) })
	all = service.Filter(slices.Compact(all), func(e *directory.Entity) bool {
		return prefixed(e.Path, in.PathPrefix) && (in.EntityFilter == nil || *in.EntityFilter == words[e.Kind])
	})
	p, err := paginate(all, order, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &listEntitiesForPolicyOutput{IsTruncated: p.Next != "", Marker: p.Next}
	for _, e := range p.Items {
		switch e.Kind {
		case directory.Group:
			out.PolicyGroups = append(out.PolicyGroups, PolicyGroup{e.Name, e.ID})
		case directory.User:
			out.PolicyUsers = append(out.PolicyUsers, PolicyUser{e.Name, e.ID})
		case directory.Role:
			out.PolicyRoles = append(out.PolicyRoles, PolicyRole{e.Name, e.ID})
		}
	}
	return out, nil
}
