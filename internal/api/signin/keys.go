package signin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/auth/session"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/signature"
)

// signedRequest is a call of GetCallerIdentity that the page has signed with the keys that a person has typed, and has
// not sent.
type signedRequest struct {
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

// HostHeader is the header of such a request with the host of the sign-in. Its prefix ensures that it must be signed. A
// call of GetCallerIdentity for another purpose does not have it.
const HostHeader = "X-Amz-Sluice-Sign-In"

const (
	// freshFor is how long after its signature a request can be used, and how far the clock of the browser may be
	// ahead.
	freshFor         = 5 * time.Minute
	maxSignedHeaders = 20
)

// keys signs in the owners of access keys.
type keys struct {
	*core
	verifier signature.Verifier
}

func newKeys(c *core) *keys {
	k := &keys{core: c}
	k.verifier.NoVersion2 = true
	if c.guard.public != nil {
		k.verifier.Hosts = []string{c.guard.public.Host}
	}
	return k
}

// signIn signs in with a request that the page has signed with keys.
func (k *keys) signIn(ctx context.Context, r *Request, in *signedRequest) (*Answer, error) {
	id, signedAt, err := k.prove(r, in)
	a := k.attempt(r, session.ByKeys, id)
	if err != nil {
		var f *failure
		if errors.As(err, &f) {
			return nil, a.fail(f.code, f.message)
		}
		return nil, err
	}
	g, err := session.GrantOf(id, r.At)
	if err != nil {
		return nil, err
	}
	// The time in a signature has a resolution of one second: a key can sign in once per second.
	proof := "request/" + id.AccessKeyID + "/" + signedAt.UTC().Format(time.RFC3339)
	return a.finish(k.o.Sessions.BeginOnce(a.changes(ctx), g, proof, signedAt.Add(freshFor), a.arrival(), r.At))
}

// failure is the reason why a signature proves nothing.
type failure struct{ code, message string }

func (f *failure) Error() string { return f.code + ": " + f.message }

// prove returns the recent signer of a request for this server. A *failure counts as an attempt.
func (k *keys) prove(r *Request, in *signedRequest) (identity.Identity, time.Time, error) {
	var none identity.Identity
	bad := func(message string) error { return refuse(http.StatusBadRequest, "BadRequest", "%s", message) }
	u, err := url.Parse(in.URL)
	if err != nil || u.Host == "" {
		return none, time.Time{}, bad("The request that was signed has no URL with a host.")
	}
	if len(in.Headers) > maxSignedHeaders {
		return none, time.Time{}, bad("The request that was signed has too many headers.")
	}
	signed := &http.Request{Method: http.MethodPost, URL: u, Host: u.Host, Header: make(http.Header)}
	for name, value := range in.Headers {
		if strings.EqualFold(name, "host") {
			continue
		}
		signed.Header.Set(name, value)
	}
	form, err := url.ParseQuery(in.Body)
	if err != nil || form.Get("Action") != "GetCallerIdentity" || form.Get("Version") != "2011-06-15" ||
		len(form) != 2 ||
		u.RawQuery != "" {
		return none, time.Time{}, bad("The request that was signed has to be a POST of Action=GetCallerIdentity&Version=2011-06-15.")
	}
	for _, host := range []string{u.Host, signed.Header.Get(HostHeader)} {
		if !k.isHere(r.HTTP, host) {
			return none, time.Time{}, bad(
				"The request was signed for another server: its host and its header " + HostHeader + " have to name this one.",
			)
		}
	}
	var cred identity.Credential
	secret := func(keyID string) (string, bool) {
		var ok bool
		cred, ok = k.longTerm(keyID)
		return cred.Secret, ok
	}
	verified, err := k.verifier.Verify(signature.FromHTTP(signed, []byte(in.Body)), r.At, secret)
	switch {
	case err != nil:
		return none, time.Time{}, &failure{"BadKeys", "The access key or its secret is not right, or the clock of this browser is not."}
	case verified.Service != "sts" || verified.Presigned || verified.Token != "":
		return none, time.Time{}, bad(
			"The request has to be signed for sts, in the header Authorization, with keys that are not temporary.",
		)
	case r.At.Sub(verified.SignedAt).Abs() > freshFor:
		return none, time.Time{}, &failure{
			"BadClock",
			"The request was signed more than five minutes ago, or the clock of this browser is not right.",
		}
	}
	return cred.Identity, verified.SignedAt, nil
}

// isHere reports whether a host is the one that serves the console to the browser.
func (k *keys) isHere(r *http.Request, host string) bool {
	return strings.EqualFold(host, r.Host) || k.guard.public != nil && strings.EqualFold(host, k.guard.public.Host)
}

// longTerm returns the owner of a key of a root or a user.
func (k *keys) longTerm(keyID string) (identity.Credential, bool) {
	if cred, ok := k.o.Roots.Lookup(keyID); ok {
		return cred, true
	}
	cred, ok := k.o.Directory.Lookup(keyID)
	return cred, ok && cred.Kind == policy.User
}
