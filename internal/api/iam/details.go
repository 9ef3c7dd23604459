package iam

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// details serves the operation that shows all users, groups, roles and policies of an account with their relations.
type details struct{ *core }

func (s details) register(wire *protocol.Service) {
	protocol.Register(wire, "GetAccountAuthorizationDetails", s.get)
}

// mostDetails is the size of documents, in bytes, at which an answer ends early. IAM may return fewer items than
// requested.
const mostDetails = 1 << 20

// PolicyDetail is a policy that is part of a user, group or role.
type PolicyDetail struct{ PolicyName, PolicyDocument string }

// UserDetail is a user with its policies and groups.
type UserDetail struct {
	Path                    string
	UserName                string
	UserId                  string
	Arn                     string
	CreateDate              time.Time
	UserPolicyList          []PolicyDetail   `wrap:"member"`
	GroupList               []string         `wrap:"member" json:",always"`
	AttachedManagedPolicies []AttachedPolicy `wrap:"member" json:",always"`
	PermissionsBoundary     *Boundary
	Tags                    []Tag `wrap:"member" json:",always"`
}

// GroupDetail is a group with its policies.
type GroupDetail struct {
	Path                    string
	GroupName               string
	GroupId                 string
	Arn                     string
	CreateDate              time.Time
	GroupPolicyList         []PolicyDetail   `json:",always" wrap:"member"`
	AttachedManagedPolicies []AttachedPolicy `json:",always" wrap:"member"`
}

// RoleDetail is a role with its policies and profiles.
type RoleDetail struct {
	Path                     string
	RoleName                 string
	RoleId                   string
	Arn                      string
	CreateDate               time.Time
	AssumeRolePolicyDocument string
	InstanceProfileList      []InstanceProfile `json:",always" wrap:"member"`
	RolePolicyList           []PolicyDetail    `json:",always" wrap:"member"`
	AttachedManagedPolicies  []AttachedPolicy  `json:",always" wrap:"member"`
	PermissionsBoundary      *Boundary
	Tags                     []Tag `json:",always" wrap:"member"`
	RoleLastUsed             *RoleLastUsed
}

// ManagedPolicyDetail is a managed policy with its versions.
type ManagedPolicyDetail struct {
	PolicyFacts
	PolicyVersionList []PolicyVersion `json:",always" wrap:"member"`
}

type detailsInput struct {
	Filter   []string `wrap:"member" max:"100,64"`
	Marker   *string  `              max:"2048"`
	MaxItems *int32
}

type detailsOutput struct {
	UserDetailList  []UserDetail          `json:",always"    wrap:"member"`
	GroupDetailList []GroupDetail         `json:",always"    wrap:"member"`
	RoleDetailList  []RoleDetail          `json:",always"    wrap:"member"`
	Policies        []ManagedPolicyDetail `json:",always"    wrap:"member"`
	IsTruncated     bool
	Marker          string `json:",omitempty"`
}

// detailed is an entity or a managed policy in an answer with all its details.
type detailed struct {
	order  string
	entity *directory.Entity
	policy *directory.Managed
}

// The values of the filter, in the order of the answer's pages.
const (
	filterUser  = "User"
	filterRole  = "Role"
	filterGroup = "Group"
	filterLocal = "LocalManagedPolicy"
	filterAWS   = "AWSManagedPolicy"
)

func (s details) get(_ context.Context, c *protocol.Call, in *detailsInput) (*detailsOutput, error) {
	if err := s.allow(c, "GetAccountAuthorizationDetails", subject{arn: anything}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	all := s.all(account, in.Filter)
	order := func(d detailed) string { return d.order }
	p, err := paginate(all, order, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out, size := new(detailsOutput), 0
	for i, d := range p.Items {
		if i > 0 && size >= mostDetails {
			n := int32(i)
			if p, err = paginate(all, order, in.Marker, &n); err != nil {
				return nil, err
			}
			break
		}
		size += s.add(out, account, d)
	}
	out.IsTruncated, out.Marker = p.Next != "", p.Next
	return out, nil
}

// all returns the account's resources of the kinds in a filter, or of all kinds without one, in a fixed order. Of AWS's
// own policies it returns those in use.
func (s details) all(account string, filter []string) (all []detailed) {
	wanted := func(kind string) bool { return len(filter) == 0 || slices.Contains(filter, kind) }
	for i, kind := range []directory.Kind{directory.User, directory.Group, directory.Role} {
		if !wanted(words[kind]) {
			continue
		}
		for _, e := range s.directory.List(kind, account) {
			all = append(all, detailed{order: string(rune('1'+i)) + e.Name, entity: e})
		}
	}
	if wanted(filterLocal) {
		for _, m := range s.directory.Policies(account) {
			all = append(all, detailed{order: "4" + m.ARN(), policy: m})
		}
	}
	if wanted(filterAWS) {
		for _, m := range s.directory.Policies("aws") {
			if attached, bounded := s.holders(account, m); len(attached)+len(bounded) > 0 {
				all = append(all, detailed{order: "5" + m.ARN(), policy: m})
			}
		}
	}
	slices.SortFunc(all, func(a, b detailed) int { return cmp.Compare(a.order, b.order) })
	return all
}

// add adds d to an answer, and returns the size of its documents.
func (s details) add(out *detailsOutput, account string, d detailed) int {
	e := d.entity
	if e == nil {
		detail := ManagedPolicyDetail{PolicyFacts: s.facts(account, d.policy)}
		size := 0
		for _, v := range d.policy.Versions {
			shown := showVersion(d.policy, v)
			shown.Document = escape(v.Document)
			detail.PolicyVersionList = append(detail.PolicyVersionList, shown)
			size += len(shown.Document)
		}
		out.Policies = append(out.Policies, detail)
		return size
	}
	own, size := inlineDetails(e)
	attached := s.attachedTo(e, nil)
	switch e.Kind {
	case directory.User:
		out.UserDetailList = append(out.UserDetailList, UserDetail{
			Path: e.Path, UserName: e.Name, UserId: e.ID, Arn: e.ARN(), CreateDate: e.Created, UserPolicyList: own,
			GroupList: service.Convert(s.directory.Groups(e), entityName), AttachedManagedPolicies: attached,
			PermissionsBoundary: boundaryOf(e), Tags: service.TagList(e.Tags),
		})
	case directory.Group:
		out.GroupDetailList = append(out.GroupDetailList, GroupDetail{
			Path: e.Path, GroupName: e.Name, GroupId: e.ID, Arn: e.ARN(), CreateDate: e.Created, GroupPolicyList: own,
			AttachedManagedPolicies: attached,
		})
	case directory.Role:
		trust := escape(s.trustOf(e))
		out.RoleDetailList = append(out.RoleDetailList, RoleDetail{
			Path: e.Path, RoleName: e.Name, RoleId: e.ID, Arn: e.ARN(), CreateDate: e.Created,
			AssumeRolePolicyDocument: trust,
			InstanceProfileList:      service.Convert(s.directory.ProfilesOf(e), s.listedProfile), RolePolicyList: own,
			AttachedManagedPolicies: attached,
			PermissionsBoundary:     boundaryOf(e), Tags: service.TagList(e.Tags), RoleLastUsed: s.lastUsed(e),
		})
		size += len(trust)
	}
	return size
}

func inlineDetails(e *directory.Entity) (all []PolicyDetail, size int) {
	for _, name := range slices.Sorted(maps.Keys(e.Inline)) {
		document := escape(e.Inline[name])
		all = append(all, PolicyDetail{name, document})
		size += len(document)
	}
	return all, size
}
