package signin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// attempt is an attempt to sign in.
type attempt struct {
	c      *core
	r      *Request
	method session.Method
	who    identity.Identity
	record *trail.Record // nil: it is not recorded
}

// attempt begins an attempt. who is the zero Identity if the user is not known yet.
func (c *core) attempt(r *Request, method session.Method, who identity.Identity) *attempt {
	return c.attemptOf(r, method, who, nil)
}

// attemptOf is attempt with the provider's statements about the person, if any.
func (c *core) attemptOf(
	r *Request, method session.Method, who identity.Identity, federated *trail.Federated,
) *attempt {
	a := &attempt{c: c, r: r, method: method, who: who}
	if c.o.Trail == nil {
		return a
	}
	account := who.Account
	if account == "" {
		account = c.o.Accounts[0]
	}
	a.record = c.o.Trail.BeginSignIn(&trail.SignIn{
		Account: account, Who: who, Method: string(method), URL: c.guard.page(r.HTTP, c.guard.isSecure(r)),
		Region: c.o.Region, Host: r.HTTP.Host,
		SourceIP: r.SourceIP, UserAgent: r.HTTP.UserAgent(), RequestID: r.ID, TLS: r.Encrypted, MFA: !who.MFA.IsZero(),
		Federated: federated, At: r.At,
	})
	return a
}

// changes returns a context in which the session begins in one commit with its event.
func (a *attempt) changes(ctx context.Context) context.Context {
	if a.record == nil {
		return ctx
	}
	return a.record.Changes(ctx)
}

func (a *attempt) arrival() session.Arrival {
	return session.Arrival{Method: a.method, SourceIP: a.r.SourceIP, UserAgent: a.r.HTTP.UserAgent()}
}

// finish answers with the session that has begun.
func (a *attempt) finish(token string, n *session.Session, err error) (*Answer, error) {
	switch {
	case errors.Is(err, session.ErrNoLink):
		return nil, a.fail(
			"NoSuchLink",
			"The link is not valid: it was used, or it is older than ten minutes. Create a new one with: sluice console",
		)
	case errors.Is(err, session.ErrUsed):
		return nil, a.fail("Used", "This request has begun a session already. Sign another one.")
	case errors.Is(err, session.ErrNoPrincipal):
		return nil, a.fail("NoSuchUser", "There is no such user or key any more.")
	case err != nil:
		return nil, err
	}
	who, ok := a.c.o.Sessions.Who(n)
	if !ok {
		return nil, a.fail("NoSuchUser", "There is no such user or key any more.")
	}
	seconds := int(n.Until.Sub(a.r.At) / time.Second)
	return &Answer{
		Status: http.StatusOK, Body: a.c.view(n, who, n.ID),
		Header: http.Header{"Set-Cookie": {a.c.guard.cookie(a.r, token, seconds).String()}},
	}, nil
}

// fail refuses the attempt, and records it.
func (a *attempt) fail(code, message string) error {
	a.note()
	return refuse(http.StatusUnauthorized, code, "%s", message)
}

// recordedFailures is how many failures of one address become events in login.TriesWindow.
const recordedFailures = 100

// note records that the attempt has failed, and reports whether it did: further failures of an address with many are
// not recorded.
func (a *attempt) note() bool {
	if a.c.o.Logins.Note("record/"+login.Network(a.r.SourceIP), a.r.At) > recordedFailures {
		return false
	}
	if a.record != nil {
		a.record.Failed("Failed authentication")
	}
	return true
}
