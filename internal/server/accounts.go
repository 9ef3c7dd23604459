package server

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/sluicemq/sluice/internal/api/iam"
	"github.com/sluicemq/sluice/internal/api/service"
	"github.com/sluicemq/sluice/internal/api/sts"
	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/observe/prom"
	"github.com/sluicemq/sluice/internal/tenant"
	"github.com/sluicemq/sluice/internal/topic/egress"
)

// accounts is the wing of callers: their keys, permissions and limits.
type accounts struct {
	config  *Config
	log     *slog.Logger
	storage *storage
	peers   *peers

	credentials *identity.Credentials
	vault       *identity.Vault
	directory   *directory.Directory
	permissions *access.Decider
	openID      *openid.Provider  // the provider of single sign-on; nil: none
	logins      *login.Logins     // passwords of users
	sessions    *session.Sessions // sessions of console users
	tenants     *tenant.Tenants   // limits of accounts and users
}

// openAccounts reads keys, users, sessions and limits from the control store.
func openAccounts(c *Config, st *storage, p *peers) (_ *accounts, err error) {
	a := &accounts{config: c, log: c.Logger, storage: st, peers: p}
	if err := a.openKeys(); err != nil {
		return nil, err
	}
	if a.directory, err = directory.Open(st.control, a.vault); err != nil {
		return nil, err
	}
	a.permissions = access.New(a.directory)
	if err := a.openSessions(); err != nil {
		return nil, err
	}
	return a, a.openTenants()
}

// openSessions reads the sessions of console users, and the passwords of users.
func (a *accounts) openSessions() (err error) {
	var vouched func(issuer, group, role string) bool
	if a.config.OpenID.Issuer != "" {
		if a.openID, err = openid.New(a.config.OpenID); err != nil {
			return err
		}
		vouched = func(issuer, group, role string) bool {
			return issuer == a.openID.Issuer() && a.openID.Gives(group, role)
		}
	}
	a.logins, err = login.Open(login.Options{Control: a.storage.control, Vault: a.vault, Formats: a.storage.formats()})
	if err != nil {
		return err
	}
	a.sessions, err = session.Open(session.Options{
		Control: a.storage.control, Directory: a.directory, Roots: a.credentials, Vault: a.vault,
		Idle:          a.config.Console.Idle,
		PasswordSince: a.logins.PasswordSince, Vouched: vouched, Formats: a.storage.formats(),
	})
	return err
}

// openTenants reads the limits of accounts and users. From then on, this node exchanges their use with the other nodes.
func (a *accounts) openTenants() (err error) {
	a.tenants, err = tenant.Open(tenant.Options{
		Control: a.storage.control, Formats: a.storage.formats(), Gone: a.isGone, Stored: a.storage.stored,
		Now: a.config.Now, Log: a.log,
	})
	a.peers.tenants.Store(a.tenants)
	return err
}

// isGone reports whether an account or user no longer exists.
func (a *accounts) isGone(of tenant.Subject) bool {
	if of.User != "" {
		return a.directory.Entity(of.User) == nil
	}
	_, there := a.credentials.Root(of.Account)
	return !there
}

// newIAM returns the IAM service.
func (a *accounts) newIAM() *protocol.Service {
	return iam.New(iam.Options{
		Directory: a.directory, Access: a.permissions, Roots: a.credentials, Logins: a.logins, Now: a.config.Now,
		Log:      notRepeated(a.log),
		Services: rules(),
	})
}

// newSTS returns the STS service. It fetches the keys of identity providers through out.
func (a *accounts) newSTS(out *egress.Rules) *protocol.Service {
	return sts.New(sts.Options{
		Directory: a.directory, Access: a.permissions, Roots: a.credentials, Vault: a.vault, Logins: a.logins,
		Now:     a.config.Now,
		WebKeys: openid.NewKeys(out.DialContext, a.config.Now),
	})
}

// authorizer returns the function that decides whether a caller may use the operations with these rules.
func (a *accounts) authorizer(rules *policy.Rules) *service.Authorizer {
	return service.NewAuthorizer(a.permissions, rules, a.config.Now)
}

// keys returns the function that finds the owner of an access key.
func (a *accounts) keys() front.Keys {
	return front.Keys{Roots: a.credentials, Sessions: a.vault, Directory: a.directory, Browsers: a.sessions}
}

// root returns the root credential of the first account.
func (a *accounts) root() identity.Credential {
	cred, _ := a.credentials.Root(a.config.Accounts[0])
	return cred
}

// hasNewRoot reports whether this start created the root key of the first account.
func (a *accounts) hasNewRoot() bool {
	return slices.Contains(a.credentials.Made(), a.config.Accounts[0])
}

// measure adds the metrics of limits.
func (a *accounts) measure(m *prom.Metrics) { m.Limits(a.tenants.Refused) }

// Run measures the use of limited resources, and records when keys were used, until ctx ends.
func (a *accounts) Run(ctx context.Context) error {
	var loops sync.WaitGroup
	loops.Go(func() { a.tenants.Run(ctx) })
	err := a.directory.Run(ctx, a.peers.sendUses)
	loops.Wait()
	if err != nil {
		return fmt.Errorf("when access keys were used last is not kept: %w", err)
	}
	return nil
}
