package signin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/login"
	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/observe/cloudtrail/trail"
)

// Signing in by an OpenID Connect provider takes two addresses, which the browser itself visits rather than the
// console's page: the first redirects to the provider, which redirects to the second. Such requests cannot have headers
// of the page. The request for the second comes from another site, and so without the cookies of sessions; the cookie
// of the attempt is SameSite=Lax. Both addresses always redirect to another page. Errors redirect to the console with a
// code behind the #, for which the page has the words. No text of the provider or the browser appears in an answer.
const (
	openIDBegin    = "oidc"
	openIDCallback = "oidc/callback"
)

const (
	// attemptLasts is how long a person may take at the provider.
	attemptLasts = 10 * time.Minute
	// proofLasts is how long an answer of the provider that began a session is remembered. Its ID token is too old to
	// count by then.
	proofLasts = time.Hour
	// maxState is the maximum length of a state that is compared.
	maxState = 64
	// assumeByProvider is the action in trust policies.
	assumeByProvider = "sts:AssumeRoleWithWebIdentity"
)

// Reasons for a failed sign-in, in the form for the console's page, which has a text for each.
const (
	codeLost        = "Lost"        // this browser has not begun the attempt, or too long ago
	codeDenied      = "Denied"      // the person or the provider declined
	codeRefused     = "Refused"     // the provider's answer proves nothing
	codeUnreachable = "Unreachable" // the provider is unusable
	codeNoName      = "NoName"
	codeNoRole      = "NoRole" // none of the person's groups has a role
	codeNotTrusted  = "NotTrusted"
	codeTooMany     = "TooManyAttempts"
	codeUnavailable = "Unavailable" // this server cannot do it at the moment
)

// errLeads is an error that redirects the browser.
type errLeads struct{ code string }

func (e *errLeads) Error() string { return e.code }

// isVisit reports whether the browser itself visits the address of a request.
func isVisit(name string) bool { return name == openIDBegin || name == openIDCallback }

// lead redirects the browser to the console's page, by a relative URL: the page knows its own address.
func lead(name, code string) *Answer {
	to := "../" + strings.Repeat("../", strings.Count(name, "/"))
	if code != "" {
		to += "#oidc=" + code
	}
	return &Answer{Status: http.StatusSeeOther, Header: http.Header{"Location": {to}}}
}

// beginOpenID sends a browser to the provider.
func (s *Service) beginOpenID(ctx context.Context, r *Request) (*Answer, error) {
	if s.o.OpenID == nil {
		return nil, refuse(http.StatusNotFound, "NotFound", "There is nothing here.")
	}
	if s.guard.public != nil && !strings.EqualFold(r.HTTP.Host, s.guard.public.Host) {
		// The provider sends browsers to the public address, where the cookie of this one would not go.
		return &Answer{Status: http.StatusSeeOther, Header: http.Header{"Location": {s.guard.page(r.HTTP, true)}}}, nil
	}
	if site := r.HTTP.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return lead(r.Name, ""), nil // another site must not begin a sign-in that the person may not want
	}
	secret := openid.NewSecret()
	to, err := s.o.OpenID.Begin(ctx, secret, s.callback(r), r.At)
	if err != nil {
		s.tell(r, "signing in by the identity provider is not possible", err)
		return lead(r.Name, codeUnreachable), nil
	}
	return &Answer{Status: http.StatusSeeOther, Header: http.Header{
		"Location": {to}, "Set-Cookie": {s.attemptCookie(r, string(secret), int(attemptLasts/time.Second)).String()},
	}}, nil
}

// callback returns the address that the provider sends browsers to. It is registered there.
func (s *Service) callback(r *Request) string {
	return s.guard.page(r.HTTP, s.guard.isSecure(r)) + signInPath + openIDCallback
}

// signInPath is where the requests of this package are below the console's page.
const signInPath = "api/"

// attemptCookie returns the cookie that holds the secret of an attempt.
func (s *Service) attemptCookie(r *Request, secret string, seconds int) *http.Cookie {
	c := s.guard.cookie(r, secret, seconds)
	c.Name += attemptSuffix
	c.SameSite = http.SameSiteLaxMode
	return c
}

const attemptSuffix = "-oidc"

// finishOpenID begins a session for a person whom the provider vouches for.
func (s *Service) finishOpenID(ctx context.Context, r *Request) (*Answer, error) {
	if s.o.OpenID == nil {
		return nil, refuse(http.StatusNotFound, "NotFound", "There is nothing here.")
	}
	a, err := s.byOpenID(ctx, r)
	if leads, ok := errors.AsType[*errLeads](err); ok {
		a, err = lead(r.Name, leads.code), nil
	}
	if a != nil { // the attempt is over in any case
		a.Header.Add("Set-Cookie", s.attemptCookie(r, "", -1).String())
	}
	return a, err
}

// byOpenID answers with the session's cookie, or with an *errLeads.
func (s *Service) byOpenID(ctx context.Context, r *Request) (*Answer, error) {
	a := s.attempt(r, session.ByOpenID, identity.Identity{})
	q, err := url.ParseQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return nil, s.failOpenID(a, codeLost, err)
	}
	secret := openid.Secret(s.guard.cookieValue(r, s.guard.cookieName(r)+attemptSuffix))
	if state := q.Get("state"); len(state) > maxState || !secret.Began(state) {
		return nil, s.failOpenID(a, codeLost, errors.New("the browser has not begun this sign-in, or more than ten minutes ago"))
	}
	// Attempts count before the provider is called, so the number of calls is limited.
	from := "provider/" + login.Network(r.SourceIP)
	if s.o.Logins.Note(from, r.At) > login.MostTriesFrom {
		return nil, &errLeads{codeTooMany}
	}
	if why := q.Get("error"); why != "" {
		err := fmt.Errorf("the provider answers %.100q %.200q", why, q.Get("error_description"))
		if why == "access_denied" || why == "login_required" || why == "consent_required" ||
			why == "interaction_required" {
			return nil, s.failOpenID(a, codeDenied, err)
		}
		return nil, s.failOpenID(a, codeRefused, err)
	}
	person, err := s.o.OpenID.Finish(
		ctx, secret, s.callback(r), openid.Answer{Code: q.Get("code"), Issuer: q.Get("iss")}, r.At,
	)
	if person != nil {
		a = s.attemptOf(r, session.ByOpenID, identity.Identity{}, s.federated(person, s.o.Accounts[0]))
	}
	switch {
	case errors.Is(err, openid.ErrNoName):
		return nil, s.failOpenID(a, codeNoName, err)
	case errors.Is(err, openid.ErrUnreachable):
		return nil, s.failOpenID(a, codeUnreachable, err)
	case err != nil:
		return nil, s.failOpenID(a, codeRefused, err)
	}
	grant, who, err := s.grantByProvider(a, person)
	if err != nil {
		return nil, err
	}
	a = s.attemptOf(r, session.ByOpenID, who, s.federated(person, grant.Account))
	token, n, err := s.o.Sessions.BeginOnce(
		a.changes(ctx), grant, "oidc/"+secret.State(), r.At.Add(proofLasts), a.arrival(), r.At,
	)
	switch {
	case errors.Is(err, session.ErrUsed):
		return nil, s.failOpenID(a, codeLost, err)
	case errors.Is(err, session.ErrNoPrincipal):
		return nil, s.failOpenID(a, codeNotTrusted, err)
	case err != nil:
		return nil, err
	}
	s.o.Logins.Undo(from)
	ok := lead(r.Name, "")
	ok.Header.Set("Set-Cookie", s.guard.cookie(r, token, int(n.Until.Sub(r.At)/time.Second)).String())
	return ok, nil
}

// grantByProvider returns the grant of a person whom the provider vouches for: a session of the role that the operator
// gives to one of their groups, if the trust policy of the role admits users of the provider.
func (s *Service) grantByProvider(a *attempt, person *openid.Person) (session.Grant, identity.Identity, error) {
	none := func(code string, err error) (session.Grant, identity.Identity, error) {
		return session.Grant{}, identity.Identity{}, s.failOpenID(a, code, err)
	}
	arn, group, ok := s.o.OpenID.Role(person.Groups)
	if !ok {
		return none(codeNoRole, errors.New("no --oidc-role is for a group of this person"))
	}
	role := s.o.Directory.ByARN(arn)
	if role == nil || role.Kind != directory.Role {
		return none(codeNotTrusted, errors.New("there is no role "+arn))
	}
	if !s.trusts(a.r, role, person) {
		return none(
			codeNotTrusted,
			errors.New("the trust policy of "+arn+" does not allow "+assumeByProvider+" to "+s.provider(role.Account)),
		)
	}
	grant := session.Federated(
		role, person.Name, session.Federation{Issuer: person.Issuer, Subject: person.Subject, Group: group}, a.r.At,
	)
	who, ok := s.o.Sessions.Who(&session.Session{Grant: grant})
	if !ok {
		return none(codeNotTrusted, errors.New("there is no account of "+arn))
	}
	return grant, who, nil
}

// trusts reports whether a role's trust policy admits a person whom the provider vouches for.
func (s *Service) trusts(r *Request, role *directory.Entity, person *openid.Person) bool {
	trust, ok := s.o.Directory.Trust(role)
	if !ok {
		return false
	}
	key := strings.ToLower(s.o.OpenID.Key()) + ":"
	facts := policy.Facts{
		Time: r.At, SecureTransport: r.Encrypted, UserAgent: r.HTTP.UserAgent(), Region: s.o.Region,
		Lookup: func(name string) (policy.Value, bool) {
			claim, ours := strings.CutPrefix(name, key)
			switch {
			case name == "sts:rolesessionname":
				return policy.Text(person.Name), true
			case ours && claim == "aud":
				return policy.Text(s.o.OpenID.ClientID()), true
			case ours && claim == "sub":
				return policy.Text(person.Subject), true
			case ours && claim == "amr":
				return policy.List(person.Methods), true
			}
			return policy.Value{}, false
		},
	}
	facts.SourceIP, _ = netip.ParseAddr(r.SourceIP) // without an address the fact is absent
	return policy.Decide(&policy.Request{
		Caller: policy.Caller{Kind: policy.WebIdentity, Provider: s.provider(role.Account)},
		Action: assumeByProvider, Resource: role.ARN(), Owner: role.Account, ResourcePolicy: trust, Facts: facts,
	}).Allowed()
}

// provider returns the provider's name in the trust policies of an account.
func (s *Service) provider(account string) string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + s.o.OpenID.Key()
}

// federated returns the person, as vouched for by the provider, for the trail.
func (s *Service) federated(person *openid.Person, account string) *trail.Federated {
	return &trail.Federated{
		Provider: s.provider(account), ClientID: s.o.OpenID.ClientID(), Subject: person.Subject, Name: person.Name,
	}
}

// failOpenID records a failed attempt, and logs the reason for the operator.
func (s *Service) failOpenID(a *attempt, code string, why error) error {
	if a.note() {
		s.tell(a.r, "a person could not sign in by the identity provider", why, slog.String("code", code))
	}
	return &errLeads{code}
}

// tell logs details that the page must not show.
func (s *Service) tell(r *Request, what string, err error, more ...slog.Attr) {
	attrs := append(
		[]slog.Attr{slog.String("request_id", r.ID), slog.String("client", r.SourceIP), slog.Any("error", err)},
		more...,
	)
	s.o.Log.LogAttrs(context.Background(), slog.LevelWarn, what, attrs...)
}
