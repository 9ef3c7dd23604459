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

// federation signs people in by an OpenID Connect provider.
type federation struct {
	*core
	provider *openid.Provider // nil: there is none
}

// begin sends a browser to the provider.
func (f *federation) begin(ctx context.Context, r *Request) (*Answer, error) {
	if f.provider == nil {
		return nil, refuse(http.StatusNotFound, "NotFound", "There is nothing here.")
	}
	if f.guard.public != nil && !strings.EqualFold(r.HTTP.Host, f.guard.public.Host) {
		// The provider sends browsers to the public address, where the cookie of this one would not go.
		return &Answer{Status: http.StatusSeeOther, Header: http.Header{"Location": {f.guard.page(r.HTTP, true)}}}, nil
	}
	if site := r.HTTP.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return lead(r.Name, ""), nil // another site must not begin a sign-in that the person may not want
	}
	secret := openid.NewSecret()
	to, err := f.provider.Begin(ctx, secret, f.callback(r), r.At)
	if err != nil {
		f.tell(r, "signing in by the identity provider is not possible", err)
		return lead(r.Name, codeUnreachable), nil
	}
	return &Answer{Status: http.StatusSeeOther, Header: http.Header{
		"Location": {to}, "Set-Cookie": {f.attemptCookie(r, string(secret), int(attemptLasts/time.Second)).String()},
	}}, nil
}

// callback returns the address that the provider sends browsers to. It is registered there.
func (f *federation) callback(r *Request) string {
	return f.guard.page(r.HTTP, f.guard.isSecure(r)) + signInPath + openIDCallback
}

// signInPath is where the requests of this package are below the console's page.
const signInPath = "api/"

// attemptCookie returns the cookie that holds the secret of an attempt.
func (f *federation) attemptCookie(r *Request, secret string, seconds int) *http.Cookie {
	c := f.guard.cookie(r, secret, seconds)
	c.Name += attemptSuffix
	c.SameSite = http.SameSiteLaxMode
	return c
}

const attemptSuffix = "-oidc"

// finish begins a session for a person whom the provider vouches for.
func (f *federation) finish(ctx context.Context, r *Request) (*Answer, error) {
	if f.provider == nil {
		return nil, refuse(http.StatusNotFound, "NotFound", "There is nothing here.")
	}
	a, err := f.signIn(ctx, r)
	if leads, ok := errors.AsType[*errLeads](err); ok {
		a, err = lead(r.Name, leads.code), nil
	}
	if a != nil { // the attempt is over in any case
		a.Header.Add("Set-Cookie", f.attemptCookie(r, "", -1).String())
	}
	return a, err
}

// signIn answers with the session's cookie, or with an *errLeads.
func (f *federation) signIn(ctx context.Context, r *Request) (*Answer, error) {
	a := f.attempt(r, session.ByOpenID, identity.Identity{})
	q, err := url.ParseQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return nil, f.fail(a, codeLost, err)
	}
	secret := openid.Secret(f.guard.cookieValue(r, f.guard.cookieName(r)+attemptSuffix))
	if state := q.Get("state"); len(state) > maxState || !secret.Began(state) {
		return nil, f.fail(a, codeLost, errors.New("the browser has not begun this sign-in, or more than ten minutes ago"))
	}
	// Attempts count before the provider is called, so the number of calls is limited.
	from := "provider/" + login.Network(r.SourceIP)
	if f.o.Logins.Note(from, r.At) > login.MostTriesFrom {
		return nil, &errLeads{codeTooMany}
	}
	if why := q.Get("error"); why != "" {
		err := fmt.Errorf("the provider answers %.100q %.200q", why, q.Get("error_description"))
		if why == "access_denied" || why == "login_required" || why == "consent_required" ||
			why == "interaction_required" {
			return nil, f.fail(a, codeDenied, err)
		}
		return nil, f.fail(a, codeRefused, err)
	}
	person, err := f.provider.Finish(
		ctx, secret, f.callback(r), openid.Answer{Code: q.Get("code"), Issuer: q.Get("iss")}, r.At,
	)
	if person != nil {
		a = f.attemptOf(r, session.ByOpenID, identity.Identity{}, f.federated(person, f.o.Accounts[0]))
	}
	switch {
	case errors.Is(err, openid.ErrNoName):
		return nil, f.fail(a, codeNoName, err)
	case errors.Is(err, openid.ErrUnreachable):
		return nil, f.fail(a, codeUnreachable, err)
	case err != nil:
		return nil, f.fail(a, codeRefused, err)
	}
	grant, who, err := f.grant(a, person)
	if err != nil {
		return nil, err
	}
	a = f.attemptOf(r, session.ByOpenID, who, f.federated(person, grant.Account))
	token, n, err := f.o.Sessions.BeginOnce(
		a.changes(ctx), grant, "oidc/"+secret.State(), r.At.Add(proofLasts), a.arrival(), r.At,
	)
	switch {
	case errors.Is(err, session.ErrUsed):
		return nil, f.fail(a, codeLost, err)
	case errors.Is(err, session.ErrNoPrincipal):
		return nil, f.fail(a, codeNotTrusted, err)
	case err != nil:
		return nil, err
	}
	f.o.Logins.Undo(from)
	ok := lead(r.Name, "")
	ok.Header.Set("Set-Cookie", f.guard.cookie(r, token, int(n.Until.Sub(r.At)/time.Second)).String())
	return ok, nil
}

// grant returns the grant of a person whom the provider vouches for: a session of the role that the operator
// gives to one of their groups, if the trust policy of the role admits users of the provider.
func (f *federation) grant(a *attempt, person *openid.Person) (session.Grant, identity.Identity, error) {
	none := func(code string, err error) (session.Grant, identity.Identity, error) {
		return session.Grant{}, identity.Identity{}, f.fail(a, code, err)
	}
	arn, group, ok := f.provider.Role(person.Groups)
	if !ok {
		return none(codeNoRole, errors.New("no --oidc-role is for a group of this person"))
	}
	role := f.o.Directory.ByARN(arn)
	if role == nil || role.Kind != directory.Role {
		return none(codeNotTrusted, errors.New("there is no role "+arn))
	}
	if !f.trusts(a.r, role, person) {
		return none(
			codeNotTrusted,
			errors.New("the trust policy of "+arn+" does not allow "+assumeByProvider+" to "+f.nameIn(role.Account)),
		)
	}
	grant := session.Federated(
		role, person.Name, session.Federation{Issuer: person.Issuer, Subject: person.Subject, Group: group}, a.r.At,
	)
	who, ok := f.o.Sessions.Who(&session.Session{Grant: grant})
	if !ok {
		return none(codeNotTrusted, errors.New("there is no account of "+arn))
	}
	return grant, who, nil
}

// trusts reports whether a role's trust policy admits a person whom the provider vouches for.
func (f *federation) trusts(r *Request, role *directory.Entity, person *openid.Person) bool {
	trust, ok := f.o.Directory.Trust(role)
	if !ok {
		return false
	}
	key := strings.ToLower(f.provider.Key()) + ":"
	facts := policy.Facts{
		Time: r.At, SecureTransport: r.Encrypted, UserAgent: r.HTTP.UserAgent(), Region: f.o.Region,
		Lookup: func(name string) (policy.Value, bool) {
			claim, ours := strings.CutPrefix(name, key)
			switch {
			case name == "sts:rolesessionname":
				return policy.Text(person.Name), true
			case ours && claim == "aud":
				return policy.Text(f.provider.ClientID()), true
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
		Caller: policy.Caller{Kind: policy.WebIdentity, Provider: f.nameIn(role.Account)},
		Action: assumeByProvider, Resource: role.ARN(), Owner: role.Account, ResourcePolicy: trust, Facts: facts,
	}).Allowed()
}

// nameIn returns the provider's name in the trust policies of an account.
func (f *federation) nameIn(account string) string {
	return "arn:aws:iam::" + account + ":oidc-provider/" + f.provider.Key()
}

// federated returns the person, as vouched for by the provider, for the trail.
func (f *federation) federated(person *openid.Person, account string) *trail.Federated {
	return &trail.Federated{
		Provider: f.nameIn(account), ClientID: f.provider.ClientID(), Subject: person.Subject, Name: person.Name,
	}
}

// fail records a failed attempt, and logs the reason for the operator.
func (f *federation) fail(a *attempt, code string, why error) error {
	if a.note() {
		f.tell(a.r, "a person could not sign in by the identity provider", why, slog.String("code", code))
	}
	return &errLeads{code}
}

// tell logs details that the page must not show.
func (f *federation) tell(r *Request, what string, err error, more ...slog.Attr) {
	attrs := append(
		[]slog.Attr{slog.String("request_id", r.ID), slog.String("client", r.SourceIP), slog.Any("error", err)},
		more...,
	)
	f.o.Log.LogAttrs(context.Background(), slog.LevelWarn, what, attrs...)
}
