package sts

import (
	"context"
	_ "embed" // model.txt
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

//go:embed model.txt
var model string

// Options configures New.
type Options struct {
	Directory *directory.Directory
	Access    *access.Decider
	Roots     *identity.Credentials // keys of the accounts
	Vault     *identity.Vault       // makes temporary keys
	Logins    *login.Logins         // second factors of users
	WebKeys   *openid.Keys          // verify tokens of identity providers
	Now       func() time.Time      // nil means time.Now
}

// Service is the STS service.
type Service struct {
	directory  *directory.Directory
	authorizer *service.Authorizer
	roots      *identity.Credentials
	vault      *identity.Vault
	logins     *login.Logins
	webKeys    *openid.Keys
	now        func() time.Time
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &Service{
		directory: o.Directory, authorizer: service.NewAuthorizer(o.Access, rules, o.Now), roots: o.Roots,
		vault: o.Vault, logins: o.Logins, webKeys: o.WebKeys,
	}
	s.now = s.authorizer.Now
	wire := protocol.NewService(protocol.Service{
		Name: "sts", Versions: []string{"2011-06-15"}, Namespace: "https://sts.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.sts", Framework: true, Model: model,
	})
	secondFactor := protocol.ControlWith("TokenCode") // marks a code as used
	protocol.Register(wire, "AssumeRole", s.assumeRole, secondFactor)
	protocol.Register(wire, "AssumeRoleWithWebIdentity", s.assumeRoleWithWebIdentity, protocol.Unsigned)
	protocol.Register(wire, "DecodeAuthorizationMessage", s.decodeAuthorizationMessage)
	protocol.Register(wire, "GetAccessKeyInfo", s.getAccessKeyInfo)
	protocol.Register(wire, "GetCallerIdentity", s.getCallerIdentity)
	protocol.Register(wire, "GetFederationToken", s.getFederationToken)
	protocol.Register(wire, "GetSessionToken", s.getSessionToken, secondFactor)
	wire.Unsupported(
		"AssumeRoleWithSAML", "AssumeRoot", "GetDelegatedAccessToken", "GetScopedCredentials", "GetWebIdentityToken",
	)
	return wire
}

var rules = &policy.Rules{Vendor: "sts", Terse: true}

// Rules returns the rules of STS with all actions that policies can name.
func Rules() *policy.Rules {
	return service.RulesOf(New(Options{}), "GetServiceBearerToken", "SetContext", "SetSourceIdentity", "TagSession")
}

// allow checks that the caller may take an action on a resource of its own account.
func (s *Service) allow(c *protocol.Call, action, arn string, newTags map[string]string) error {
	return s.authorizer.Authorize(c, service.Subject{Resource: service.ARN(arn), NewTags: newTags}, "sts:"+action)
}

type callerIdentityOutput struct {
	UserId  string
	Account string
	Arn     string
}

func (s *Service) getCallerIdentity(
	_ context.Context, c *protocol.Call, _ *service.Empty,
) (*callerIdentityOutput, error) {
	id := service.Caller(c)
	return &callerIdentityOutput{UserId: id.UserID, Account: id.Account, Arn: id.ARN}, nil
}

type accessKeyInfoInput struct {
	AccessKeyId *string `max:"128"`
}

type accessKeyInfoOutput struct{ Account string }

func (s *Service) getAccessKeyInfo(
	_ context.Context, c *protocol.Call, in *accessKeyInfoInput,
) (*accessKeyInfoOutput, error) {
	id := *in.AccessKeyId
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

// notFederated refuses callers with keys of GetFederationToken or GetSessionToken, which may call only a few operations
// of STS.
func notFederated(c *protocol.Call, action string) error {
	if id := service.Caller(c); id.Session != nil && id.Kind != policy.AssumedRole {
		return protocol.AccessDenied("Cannot call %s with session credentials", action)
	}
	return nil
}
