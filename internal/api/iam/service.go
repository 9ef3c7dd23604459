package iam

import (
	"context"
	_ "embed" // model.txt
	"log/slog"
	"time"

	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

//go:embed model.txt
var model string

// sentences are IAM's messages about texts with invalid characters, in place of the pattern.
var sentences = map[string]string{
	"name":   "The specified value for %s is invalid. It must contain only alphanumeric characters and/or the following: +=,.@_-",
	"path":   "The specified value for %s is invalid. It must begin and end with / and contain only alphanumeric characters and/or / characters.",
	"prefix": "The specified value for %s is invalid. It must begin with / and contain only alphanumeric characters and/or / characters.",
	"ascii":  "The specified value for %s is invalid. It must contain only printable ASCII characters.",
}

// Options configures New.
type Options struct {
	Directory *directory.Directory
	Access    *access.Decider
	Roots     *identity.Credentials // keys of the accounts
	Logins    *login.Logins         // passwords and second factors of users
	Now       func() time.Time      // nil means time.Now
	Log       *slog.Logger          // nil means that nothing is logged
	// Services lists actions. When a policy names an unlisted action of one of these services, the log reports it.
	Services service.Services
}

// core is the common part of all operations. Each kind of resource has its own type, which embeds it.
type core struct {
	directory  *directory.Directory
	authorizer *service.Authorizer
	roots      *identity.Credentials
	logins     *login.Logins
	now        func() time.Time
	log        *slog.Logger
	services   service.Services
}

// New returns the service and its wire form.
func New(o Options) *protocol.Service {
	s := &core{
		directory:  o.Directory,
		authorizer: service.NewAuthorizer(o.Access, rules, o.Now),
		roots:      o.Roots,
		logins:     o.Logins,
		services:   o.Services,
	}
	s.now = s.authorizer.Now
	if s.log = o.Log; s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	wire := protocol.NewService(protocol.Service{
		Name: "iam", Versions: []string{"2010-05-08"}, Namespace: "https://iam.amazonaws.com/doc/%s/",
		ErrorNamespace: "com.amazonaws.iam", Framework: true, Model: model, Sentences: sentences,
	})
	users{s}.register(wire)
	keys{s}.register(wire)
	groups{s}.register(wire)
	roles{s}.register(wire)
	linkedRoles{s}.register(wire)
	inline{s}.register(wire)
	policies{s}.register(wire)
	attachments{s}.register(wire)
	tagged{s}.register(wire)
	account{s}.register(wire)
	(&simulator{core: s}).register(wire)
	passwords{s}.register(wire)
	passwordRules{s}.register(wire)
	devices{s}.register(wire)
	providers{s}.register(wire)
	profiles{s}.register(wire)
	credentialReports{s}.register(wire)
	details{s}.register(wire)
	lastAccessed{s}.register(wire)
	absent{s}.register(wire)
	wire.Unsupported(unsupported...)
	return wire
}

// Rules returns the rules of IAM with all actions that policies can name.
func Rules() *policy.Rules { return service.RulesOf(New(Options{}), "PassRole") }

// warn logs the parts of an accepted policy that never have an effect.
func (s *core) warn(p *policy.Policy, holder string) {
	service.WarnOfPolicy(s.log, p, holder, s.services)
}

// change makes a change of the directory.
func (s *core) change(ctx context.Context, f func(*directory.Tx) error) error {
	return service.Failure(s.directory.Change(ctx, f))
}

// changeLogins makes a change of passwords and second factors.
func (s *core) changeLogins(ctx context.Context, f func(*login.Tx) error) error {
	return service.Failure(s.logins.Change(ctx, f))
}

// handler handles an operation that exists for several kinds of entities.
type handler[In, Out any] func(
	ctx context.Context, k directory.Kind, action string, c *protocol.Call, in *In,
) (*Out, error)

// each registers an operation that exists for several kinds of entities, under
// the name before + kind + after.
func each[In, Out any](
	wire *protocol.Service, before, after string, h handler[In, Out], kinds []directory.Kind, opts ...protocol.Option,
) {
	for _, kind := range kinds {
		name := before + words[kind] + after
		protocol.Register(wire, name, func(ctx context.Context, c *protocol.Call, in *In) (*Out, error) {
			return h(ctx, kind, name, c, in)
		}, opts...)
	}
}

// words are the kinds of entities in the names of operations.
var words = map[directory.Kind]string{
	directory.User:    "User",
	directory.Group:   "Group",
	directory.Role:    "Role",
	directory.Profile: "InstanceProfile",
}

var (
	allKinds = []directory.Kind{directory.User, directory.Group, directory.Role}
	// boundKinds are the kinds with a permissions boundary.
	boundKinds = []directory.Kind{directory.User, directory.Role}
)
