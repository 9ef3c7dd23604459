package server

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/console"
	"github.com/sluicemq/sluice/internal/api/admin"
	"github.com/sluicemq/sluice/internal/api/signin"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/protocol"
	"github.com/sluicemq/sluice/internal/front"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// Console is the configuration of the console.
type Console struct {
	Serve bool
	Idle  time.Duration // an unused session ends after this time
	Hosts []string      // names by which browsers may reach the server, in addition to the host of Config.PublicURL
}

// Limits of Console.Idle. The console requests keys every ten minutes while it is in use.
const (
	leastIdle = 20 * time.Minute
	usualIdle = time.Hour
)

func (c *Console) validate() error {
	if c.Idle < leastIdle || c.Idle > session.Longest {
		return fmt.Errorf("--console-idle %s: want %s to %s", c.Idle, leastIdle, session.Longest)
	}
	for _, host := range c.Hosts {
		if _, _, err := net.SplitHostPort(host); err == nil || host == "" {
			return fmt.Errorf("--console-host %q: want a name without a port, such as sluice.internal", host)
		}
	}
	return nil
}

// pages returns the console's files, or nil without a console.
func (c *Console) pages() *console.Pages {
	if !c.Serve {
		return nil
	}
	return console.New()
}

// webConsole is the wing of browser users.
type webConsole struct {
	config   *Config
	pages    *console.Pages // nil: there is no console
	signIn   *signin.Service
	accounts *accounts
}

// newConsole returns the console's sign-in and its pages.
func newConsole(c *Config, a *accounts, events *trail.Trail) *webConsole {
	hosts := c.Console.Hosts
	if host, _, err := net.SplitHostPort(c.Listen); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return &webConsole{config: c, accounts: a, pages: c.Console.pages(), signIn: signin.New(signin.Options{
		Sessions: a.sessions, Directory: a.directory, Roots: a.credentials, Logins: a.logins, OpenID: a.openID,
		Trail: events, Accounts: c.Accounts, Region: c.Region, PublicURL: c.PublicURL, Hosts: hosts,
		Idle: c.Console.Idle, Version: c.Version, Off: !c.Console.Serve, NoUndo: c.NoUndo,
		Log: c.Logger,
	})}
}

// register adds the sign-in operations to Sluice's own service.
func (w *webConsole) register(own *protocol.Service) {
	w.signIn.Register(own, w.accounts.authorizer(admin.Rules))
}

// link returns a URL that signs the root of the first account in at endpoint, once and within some minutes.
func (w *webConsole) link(ctx context.Context, endpoint string) (string, error) {
	return w.signIn.Link(ctx, w.accounts.root().Identity, endpoint, w.config.Now())
}

// signInHandler lets the front serve the sign-in without depending on it. It converts between the front's requests and
// answers and those of the sign-in.
type signInHandler struct{ service *signin.Service }

// MaxBody implements front.SignIn.
func (h signInHandler) MaxBody() int64 { return signin.MaxBody }

// Changes implements front.SignIn.
func (h signInHandler) Changes(r *http.Request, name string) bool { return h.service.Changes(r, name) }

// Serve implements front.SignIn.
func (h signInHandler) Serve(ctx context.Context, r *front.SignInRequest) *front.SignInAnswer {
	return (*front.SignInAnswer)(h.service.Serve(ctx, (*signin.Request)(r)))
}

// TooLarge implements front.SignIn.
func (h signInHandler) TooLarge() *front.SignInAnswer {
	return (*front.SignInAnswer)(h.service.TooLarge())
}

// Failed implements front.SignIn.
func (h signInHandler) Failed(name string, err error) *front.SignInAnswer {
	return (*front.SignInAnswer)(h.service.Failed(name, err))
}
