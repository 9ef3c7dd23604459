package sts

import (
	"context"
	"errors"
	"net/netip"
	"time"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Options are what a service is made of.
type Options struct {
	Directory *directory.Directory
	Access    *access.Control
	Roots     *identity.Credentials // keys of the accounts
	Vault     *identity.Vault       // makes temporary keys
	Now       func() time.Time      // nil means time.Now
}

// Service is the STS service.
type Service struct {
	directory *directory.Directory
	access    *access.Control
	roots     *identity.Credentials
	vault     *identity.Vault
	now       func() time.Time
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &Service{directory: o.Directory, access: o.Access, roots: o.Roots, vault: o.Vault, now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	wire := protocol.NewService(protocol.Service{
		Name: "sts", Versions: []string{"2011-06-15"}, Namespace: "https://sts.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sts",
	})
	protocol.Register(wire, "AssumeRole", s.assumeRole)
	protocol.Register(wire, "GetAccessKeyInfo", s.getAccessKeyInfo)
	protocol.Register(wire, "GetCallerIdentity", s.getCallerIdentity)
	protocol.Register(wire, "GetFederationToken", s.getFederationToken)
	protocol.Register(wire, "GetSessionToken", s.getSessionToken)
	return wire
}

var rules = &policy.Rules{Vendor: "sts"}

// caller returns who makes the call.
func caller(c *protocol.Call) identity.Identity {
	id, _ := c.Identity.(identity.Identity)
	return id
}

// allow makes sure that the caller may take an action on a resource of its own
// account.
func (s *Service) allow(c *protocol.Call, action, arn string, tags map[string]string) error {
	id := caller(c)
	q := access.Request{
		Caller: id, Rules: rules, Action: "sts:" + action, Owner: id.Account,
		Details: details{arn: arn, facts: s.facts(c, tags)},
	}
	if denial := s.access.Decide(&q); denial != nil {
		return errors.Join(protocol.AccessDenied("%s", denial.Error()), denial)
	}
	return nil
}

type details struct {
	arn   string
	facts policy.Facts
}

func (d details) ARN() string         { return d.arn }
func (d details) Facts() policy.Facts { return d.facts }

// facts returns what conditions can ask about a request.
func (s *Service) facts(c *protocol.Call, tags map[string]string) policy.Facts {
	f := policy.Facts{
		Time: s.now(), SecureTransport: c.TLS, UserAgent: c.UserAgent, Region: c.Region, RequestTags: tags,
	}
	f.SourceIP, _ = netip.ParseAddr(c.SourceIP) // without one, the fact is absent
	return f
}

type empty struct{}

type callerIdentityOutput struct {
	UserId  string
	Account string
	Arn     string
}

func (s *Service) getCallerIdentity(_ context.Context, c *protocol.Call, _ *empty) (*callerIdentityOutput, error) {
	id := caller(c)
	return &callerIdentityOutput{UserId: id.UserID, Account: id.Account, Arn: id.ARN}, nil
}

type accessKeyInfoInput struct {
	AccessKeyId *string `max:"128"`
}

type accessKeyInfoOutput struct{ Account string }

func (s *Service) getAccessKeyInfo(_ context.Context, c *protocol.Call, in *accessKeyInfoInput) (*accessKeyInfoOutput, error) {
	var v protocol.Violations
	id := v.Required("accessKeyId", in.AccessKeyId)
	v.Length("accessKeyId", in.AccessKeyId, 16, 128)
	if err := v.Err(); err != nil {
		return nil, err
	}
	if err := notFederated(c, "GetAccessKeyInfo"); err != nil {
		return nil, err
	}
	if err := s.allow(c, "GetAccessKeyInfo", "*", nil); err != nil {
		return nil, err
	}
	if root, ok := s.roots.Lookup(id); ok {
		return &accessKeyInfoOutput{root.Account}, nil
	}
	if k := s.directory.Key(id); k != nil {
		if user := s.directory.Entity(k.User); user != nil {
			return &accessKeyInfoOutput{user.Account}, nil
		}
	}
	return nil, protocol.ValidationError("The access key %s is not known.", id)
}

// notFederated refuses callers who have their keys from GetFederationToken or
// GetSessionToken, which are not good for most of STS.
func notFederated(c *protocol.Call, action string) error {
	if id := caller(c); id.Session != nil && id.Kind != identity.AssumedRole {
		return protocol.AccessDenied("Cannot call %s with session credentials", action)
	}
	return nil
}
