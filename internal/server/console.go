package server

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/sluicemq/sluice/console"
	"github.com/sluicemq/sluice/internal/api/signin"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/session"
)

// Console is how the console is set up.
type Console struct {
	Serve bool
	Idle  time.Duration // a session ends that nobody uses for so long
	Hosts []string      // names that browsers may know the server by, beside that of Config.PublicURL
}

// Bounds of Console.Idle. The console asks for keys every ten minutes while somebody uses it.
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

// pages returns the console's files, or nil if there is to be no console.
func (c *Console) pages() *console.Pages {
	if !c.Serve {
		return nil
	}
	return console.New()
}

// openSessions reads who has signed in to the console, and with what users can.
func (s *Server) openSessions() (err error) {
	var vouched func(issuer, group, role string) bool
	if s.config.OpenID.Issuer != "" {
		if s.openID, err = openid.New(s.config.OpenID); err != nil {
			return err
		}
		vouched = func(issuer, group, role string) bool {
			return issuer == s.openID.Issuer() && s.openID.Gives(group, role)
		}
	}
	if s.logins, err = login.Open(login.Options{Control: s.control, Vault: s.vault, Formats: s.formats()}); err != nil {
		return err
	}
	s.sessions, err = session.Open(session.Options{
		Control: s.control, Directory: s.directory, Roots: s.credentials, Vault: s.vault, Idle: s.config.Console.Idle,
		PasswordSince: s.logins.PasswordSince, Vouched: vouched, Formats: s.formats(),
	})
	return err
}

// newSignIn returns what lets people into the console.
func (s *Server) newSignIn() *signin.Service {
	c := &s.config
	hosts := c.Console.Hosts
	if host, _, err := net.SplitHostPort(c.Listen); err == nil && host != "" {
		hosts = append([]string{host}, hosts...)
	}
	return signin.New(signin.Options{
		Sessions: s.sessions, Directory: s.directory, Roots: s.credentials, Logins: s.logins, Trail: s.trail, Accounts: c.Accounts, Region: c.Region,
		PublicURL: c.PublicURL, Hosts: hosts, Idle: c.Console.Idle, Version: c.Version, Off: !c.Console.Serve,
		OpenID: s.openID, Log: s.log,
	})
}

// SignInLink returns a URL with which the root of the first account can sign in to the console, once and for some minutes.
func (s *Server) SignInLink(ctx context.Context) (string, error) {
	return s.signIn.Link(ctx, s.Root().Identity, s.Endpoint(), s.config.Now())
}
