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

// signInInput is the input of one of the ways to sign in.
type signInInput struct {
	Link     string         `json:"link"`
	Signed   *signedRequest `json:"signed"`
	Password *password      `json:"password"`
}

// signIn begins a session.
func (s *Service) signIn(ctx context.Context, r *Request) (*Answer, error) {
	var in signInInput
	if err := decode(r, &in); err != nil {
		return nil, err
	}
	switch {
	case in.Link != "" && in.Signed == nil && in.Password == nil:
		return s.byLink(ctx, r, in.Link)
	case in.Link == "" && in.Signed != nil && in.Password == nil:
		return s.byKeys(ctx, r, in.Signed)
	case in.Link == "" && in.Signed == nil && in.Password != nil:
		return s.byPassword(ctx, r, in.Password)
	}
	return nil, refuse(http.StatusBadRequest, "BadRequest", `The body has to have one of "link", "signed" and "password".`)
}

// byLink signs in with the token of a link.
func (s *Service) byLink(ctx context.Context, r *Request, link string) (*Answer, error) {
	who, _ := s.o.Sessions.Whose(link)
	a := s.attempt(r, session.ByLink, who)
	return a.finish(s.o.Sessions.Redeem(a.changes(ctx), link, a.arrival(), r.At))
}

// attempt is an attempt to sign in.
type attempt struct {
	s      *Service
	r      *Request
	method session.Method
	who    identity.Identity
	record *trail.Record // nil: it is not recorded
}

// attempt begins an attempt. who is the zero Identity if the user is not known yet.
func (s *Service) attempt(r *Request, method session.Method, who identity.Identity) *attempt {
	return s.attemptOf(r, method, who, nil)
}

// attemptOf is attempt with the provider's statements about the person, if any.
func (s *Service) attemptOf(
	r *Request, method session.Method, who identity.Identity, federated *trail.Federated,
) *attempt {
	a := &attempt{s: s, r: r, method: method, who: who}
	if s.o.Trail == nil {
		return a
	}
	account := who.Account
	if account == "" {
		account = s.o.Accounts[0]
	}
	a.record = s.o.Trail.BeginSignIn(&trail.SignIn{
		Account: account, Who: who, Method: string(method), URL: s.guard.page(r.HTTP, s.guard.isSecure(r)),
		Region: s.o.Region, Host: r.HTTP.Host,
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
	who, ok := a.s.o.Sessions.Who(n)
	if !ok {
		return nil, a.fail("NoSuchUser", "There is no such user or key any more.")
	}
	seconds := int(n.Until.Sub(a.r.At) / time.Second)
	return &Answer{
		Status: http.StatusOK, Body: a.s.view(n, who, n.ID),
		Header: http.Header{"Set-Cookie": {a.s.guard.cookie(a.r, token, seconds).String()}},
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
	if a.s.o.Logins.Note("record/"+login.Network(a.r.SourceIP), a.r.At) > recordedFailures {
		return false
	}
	if a.record != nil {
		a.record.Failed("Failed authentication")
	}
	return true
}
