package iam

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// lastAccessed serves the operations that report when users and roles last used the services that they may use. A job
// is done as soon as it begins, and is not stored: its id contains its subject.
type lastAccessed struct{ *core }

func (s lastAccessed) register(wire *protocol.Service) {
	protocol.Register(wire, "GenerateServiceLastAccessedDetails", s.generate)
	protocol.Register(wire, "GetServiceLastAccessedDetails", s.get)
	protocol.Register(wire, "GetServiceLastAccessedDetailsWithEntities", s.getEntities)
}

const (
	serviceLevel = "SERVICE_LEVEL"
	actionLevel  = "ACTION_LEVEL"
)

// served are the services that policies can name, under AWS's names. The signature of a request names CloudWatch
// differently.
var served = []struct{ namespace, signed, name string }{
	{"cloudtrail", "cloudtrail", "AWS CloudTrail"},
	{"cloudwatch", "monitoring", "Amazon CloudWatch"},
	{"iam", "iam", "AWS Identity and Access Management"},
	{"sns", "sns", "Amazon SNS"},
	{"sqs", "sqs", "Amazon SQS"},
	{"sts", "sts", "AWS Security Token Service"},
}

type generateAccessedInput struct {
	Arn         *string `max:"2048"`
	Granularity *string `max:"64"`
}

type generateAccessedOutput struct{ JobId string }

func (s lastAccessed) generate(
	_ context.Context, c *protocol.Call, in *generateAccessedInput,
) (*generateAccessedOutput, error) {
	arn := orEmpty(in.Arn)
	if err := s.allow(c, "GenerateServiceLastAccessedDetails", subject{arn: service.Shorten(arn)}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	j := accessJob{at: s.now(), byAction: in.Granularity != nil && *in.Granularity == actionLevel}
	if e := s.directory.ByARN(arn); e != nil && e.Account == account {
		j.id = e.ID
	} else if m := s.policyOf(account, arn); m != nil {
		j.id = m.ID
	}
	id, ok := j.encode()
	if !ok {
		return nil, errNotFound("ARN %s is not found", service.Shorten(arn))
	}
	return &generateAccessedOutput{id}, nil
}

// ServiceLastAccessed is the last use of a service, with the user or role.
type ServiceLastAccessed struct {
	ServiceName                string
	ServiceNamespace           string
	LastAuthenticated          *time.Time
	LastAuthenticatedEntity    string `json:",omitempty"`
	LastAuthenticatedRegion    string `json:",omitempty"`
	TotalAuthenticatedEntities int32
}

type accessedInput struct {
	JobId            *string `max:"36"`
	ServiceNamespace *string `max:"64"`
	Marker           *string `max:"2048"`
	MaxItems         *int32
}

type accessedOutput struct {
	JobStatus            string
	JobType              string
	JobCreationDate      time.Time
	JobCompletionDate    time.Time
	ServicesLastAccessed []ServiceLastAccessed `json:",always"    wrap:"member"`
	IsTruncated          bool
	Marker               string `json:",omitempty"`
}

// accessed is the subject of a job: users and roles, and the policies that let them use services.
type accessed struct {
	job      accessJob
	users    []*directory.Entity
	policies []*policy.Policy
}

// find returns the subject of a request's job.
func (s lastAccessed) find(c *protocol.Call, in *accessedInput) (*accessed, error) {
	id := orEmpty(in.JobId)
	if err := s.allow(c, c.Operation, subject{arn: anything}); err != nil {
		return nil, err
	}
	account := service.Caller(c).Account
	job, ok := decodeJob(id)
	if ok {
		if e := s.directory.Entity(job.id); e != nil && e.Account == account {
			own, _ := s.directory.EffectivePolicies(e)
			a := &accessed{job: job, users: []*directory.Entity{e}, policies: own.Identity}
			if e.Kind == directory.Group {
				a.users = s.directory.Members(e)
			}
			return a, nil
		}
		if m := s.policyByID(account, job.id); m != nil {
			return s.ofPolicy(job, account, m), nil
		}
	}
	return nil, errNotFound("Job %s not found", service.Shorten(id))
}

// policyByID returns a managed policy that an account can use, or nil.
func (s lastAccessed) policyByID(account, id string) *directory.Managed {
	for _, owner := range []string{account, "aws"} {
		for _, m := range s.directory.Policies(owner) {
			if m.ID == id {
				return m
			}
		}
	}
	return nil
}

func (s lastAccessed) ofPolicy(job accessJob, account string, m *directory.Managed) *accessed {
	a := &accessed{job: job}
	if p, err := policy.Parse(policy.ForIdentity, m.Document()); err == nil {
		a.policies = []*policy.Policy{p}
	}
	attached, _ := s.holders(account, m)
	for _, e := range attached {
		if e.Kind == directory.Group {
			a.users = append(a.users, s.directory.Members(e)...)
		} else {
			a.users = append(a.users, e)
		}
	}
	slices.SortFunc(a.users, func(x, y *directory.Entity) int { return cmp.Compare(x.ARN(), y.ARN()) })
	a.users = slices.Compact(a.users)
	return a
}

func (s lastAccessed) get(_ context.Context, c *protocol.Call, in *accessedInput) (*accessedOutput, error) {
	a, err := s.find(c, in)
	if err != nil {
		return nil, err
	}
	var all []ServiceLastAccessed
	for _, one := range served {
		if slices.ContainsFunc(a.policies, func(p *policy.Policy) bool { return p.AllowsSome(one.namespace) }) {
			all = append(all, s.last(one.name, one.namespace, one.signed, a.users))
		}
	}
	p, err := paginate(all, func(l ServiceLastAccessed) string { return l.ServiceNamespace }, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	out := &accessedOutput{
		JobStatus: "COMPLETED", JobType: serviceLevel, JobCreationDate: a.job.at, JobCompletionDate: a.job.at,
		ServicesLastAccessed: p.Items, IsTruncated: p.Next != "", Marker: p.Next,
	}
	if a.job.byAction {
		out.JobType = actionLevel
	}
	return out, nil
}

// last returns when one of some users and roles last used a service.
func (s lastAccessed) last(name, namespace, signed string, users []*directory.Entity) ServiceLastAccessed {
	l := ServiceLastAccessed{ServiceName: name, ServiceNamespace: namespace}
	for _, e := range users {
		u, _ := s.directory.LastUse(e)
		v, used := u.Services[signed]
		if !used {
			continue
		}
		l.TotalAuthenticatedEntities++
		if l.LastAuthenticated == nil || l.LastAuthenticated.Before(v.At) {
			l.LastAuthenticated, l.LastAuthenticatedEntity, l.LastAuthenticatedRegion = &v.At, e.ARN(), v.Region
		}
	}
	return l
}

// EntityInfo names a user or a role.
type EntityInfo struct{ Arn, Name, Type, Id, Path string }

// EntityDetails is the last use of a service by a user or a role.
type EntityDetails struct {
	EntityInfo        EntityInfo
	LastAuthenticated *time.Time
}

type accessedEntitiesOutput struct {
	JobStatus         string
	JobCreationDate   time.Time
	JobCompletionDate time.Time
	EntityDetailsList []EntityDetails `json:",always"    wrap:"member"`
	IsTruncated       bool
	Marker            string `json:",omitempty"`
}

func (s lastAccessed) getEntities(
	_ context.Context, c *protocol.Call, in *accessedInput,
) (*accessedEntitiesOutput, error) {
	namespace := orEmpty(in.ServiceNamespace)
	a, err := s.find(c, in)
	if err != nil {
		return nil, err
	}
	signed := namespace
	for _, one := range served {
		if one.namespace == namespace {
			signed = one.signed
		}
	}
	arn := func(e *directory.Entity) string { return e.ARN() }
	slices.SortFunc(a.users, func(x, y *directory.Entity) int { return cmp.Compare(arn(x), arn(y)) })
	p, err := paginate(a.users, arn, in.Marker, in.MaxItems)
	if err != nil {
		return nil, err
	}
	list := service.Convert(p.Items, func(e *directory.Entity) EntityDetails {
		d := EntityDetails{
			EntityInfo: EntityInfo{Arn: e.ARN(), Name: e.Name, Type: upperKinds[e.Kind], Id: e.ID, Path: e.Path},
		}
		if u, _ := s.directory.LastUse(e); !u.Services[signed].At.IsZero() {
			at := u.Services[signed].At
			d.LastAuthenticated = &at
		}
		return d
	})
	return &accessedEntitiesOutput{"COMPLETED", a.job.at, a.job.at, list, p.Next != "", p.Next}, nil
}

var upperKinds = map[directory.Kind]string{directory.User: "USER", directory.Group: "GROUP", directory.Role: "ROLE"}
