package openid_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
	"github.com/sluicemq/sluice/internal/proof/eventually"
)

const account = "111122223333"

// registered is a provider whose tokens programs send, and their verifier, with a clock that a test sets.
type registered struct {
	*openidtest.Provider
	keys *openid.Keys
	now  time.Time
	r    openid.Registration
}

func newRegistered(t *testing.T) *registered {
	t.Helper()
	p := &registered{now: now}
	p.Provider = openidtest.NewTLS(t, func() time.Time { return p.now })
	p.keys = openid.NewKeys(new(net.Dialer).DialContext, func() time.Time { return p.now })
	p.r = openid.Registration{Account: account, Issuer: p.URL, Thumbprints: []string{strings.ToUpper(p.Thumbprint)}}
	return p
}

func (p *registered) verify(raw string) error {
	token, err := openid.ParseToken(raw)
	if err != nil {
		return err
	}
	return p.keys.Verify(context.Background(), p.r, token)
}

// A token that the provider has issued is accepted, and its keys are fetched once an hour.
func TestTokensOfPrograms(t *testing.T) {
	t.Parallel()
	p := newRegistered(t)
	for range 3 {
		if err := p.verify(p.Issue(nil)); err != nil {
			t.Fatal(err)
		}
	}
	if p.Described != 1 || p.Fetched != 1 {
		t.Errorf("the configuration was fetched %d times, the keys %d times", p.Described, p.Fetched)
	}
	p.now = p.now.Add(time.Hour)
	if err := p.verify(p.Issue(nil)); err != nil || p.Described != 2 {
		t.Errorf("after an hour: %v, fetched %d times", err, p.Described)
	}
}

func TestClaimsOfPrograms(t *testing.T) {
	t.Parallel()
	p := newRegistered(t)
	token, err := openid.ParseToken(p.Issue(func(c object) {
		c["aud"], c["azp"], c["amr"] = []string{"a", "b"}, "c", []string{"pwd"}
		c["https://aws.amazon.com/source_identity"] = "ann"
		c["https://aws.amazon.com/tags"] = object{
			"principal_tags":      object{"team": []string{"red"}, "env": []string{"prod"}},
			"transitive_tag_keys": []string{"team"},
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%s %s %s %s %s", token.Audience, token.Methods, token.Source, token.Tags,
		token.Transitive); got != "[c] [pwd] ann map[env:prod team:red] [team]" {
		t.Error(got)
	}
	token, err = openid.ParseToken(p.Issue(func(c object) {
		c["https://aws.amazon.com/tags/principal_tags"] = object{"team": "red"}
		c["https://aws.amazon.com/tags/transitive_tag_keys"] = []string{"team"}
	}))
	if err != nil || fmt.Sprint(token.Tags, token.Transitive) != "map[team:red] [team]" {
		t.Errorf("flattened: %v, %v", token, err)
	}
	for claim, value := range map[string]any{
		"iss": nil, "sub": "", "aud": []string{}, "exp": "1", "iat": 1.5, "azp": 7,
		"https://aws.amazon.com/tags": object{"principal_tags": object{"team": []string{"red", "blue"}}},
	} {
		_, err := openid.ParseToken(p.Issue(func(c object) { c[claim] = value }))
		if _, missing := errors.AsType[*openid.MissingClaimError](err); !missing {
			t.Errorf("%s: %v: %v", claim, value, err)
		}
	}
}

// Text that is not a token of the provider is refused, mostly without a request to the provider.
func TestHostileTokensOfPrograms(t *testing.T) {
	t.Parallel()
	p := newRegistered(t)
	claims := object{"iss": p.URL, "sub": "s", "aud": client, "exp": now.Add(time.Minute).Unix(), "iat": now.Unix()}
	header := func(more object) object {
		h := object{"alg": "RS256", "kid": "k1"}
		for name, value := range more {
			h[name] = value
		}
		return h
	}
	none := func([]byte) []byte { return nil }
	good := p.Issue(nil)
	for why, raw := range map[string]string{
		"empty":            "",
		"no token":         "AKIAIOSFODNN7EXAMPLE",
		"JSON":             `{"payload":"","signatures":[]}`,
		"two parts":        good[:strings.LastIndexByte(good, '.')],
		"huge":             p.Issue(func(c object) { c["x"] = strings.Repeat("x", openid.MaxToken) }),
		"alg none":         openidtest.JWT(header(object{"alg": "none"}), claims, none),
		"alg None":         openidtest.JWT(header(object{"alg": "None"}), claims, none),
		"the public key":   openidtest.JWT(header(object{"alg": "HS256"}), claims, openidtest.HS256),
		"an unknown alg":   openidtest.JWT(header(object{"alg": "PS256"}), claims, openidtest.RS256(openidtest.Key)),
		"claims in a list": openidtest.JWT(header(nil), nil, openidtest.RS256(openidtest.Key)),
		"a critical header": openidtest.JWT(header(object{"crit": []string{"b64"}, "b64": false}), claims,
			openidtest.RS256(openidtest.Key)),
	} {
		if err := p.verify(raw); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
	if p.Described > 1 {
		t.Errorf("the provider was called %d times", p.Described)
	}
	for why, raw := range map[string]string{
		"unsigned":       openidtest.JWT(header(nil), claims, none),
		"another's key":  openidtest.JWT(header(nil), claims, openidtest.RS256(openidtest.Other)),
		"an unknown key": openidtest.JWT(header(object{"kid": "k2"}), claims, openidtest.RS256(openidtest.Other)),
		"its own key": openidtest.JWT(header(object{"jwk": object{"kty": "RSA"}}), claims,
			openidtest.RS256(openidtest.Other)),
		"expired":          p.Issue(func(c object) { c["exp"] = now.Add(-time.Second).Unix() }),
		"changed":          good[:len(good)-8] + "AAAAAAAA",
		"not yet good":     p.Issue(func(c object) { c["nbf"] = now.Add(time.Hour).Unix() }),
		"another's issuer": p.Issue(func(c object) { c["iss"] = "https://evil.example" }),
	} {
		if err := p.verify(raw); err == nil {
			t.Errorf("%s: accepted", why)
		}
	}
	if p.Fetched > 2 {
		t.Errorf("hostile tokens caused %d fetches of the keys", p.Fetched)
	}
}

// If a provider has more than a hundred keys of a type, none of them is used: a short token would be compared with
// thousands.
func TestProviderWithManyKeys(t *testing.T) {
	t.Parallel()
	p := newRegistered(t)
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	point, err := key.PublicKey.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	other := object{
		"kty": "EC", "kid": "e1", "crv": "P-384", "x": openidtest.B64(point[1:49]), "y": openidtest.B64(point[49:]),
	}
	own := object{
		"kty": "RSA", "kid": "k1", "n": openidtest.B64(openidtest.Key.N.Bytes()),
		"e": openidtest.B64(big.NewInt(int64(openidtest.Key.E)).Bytes()),
	}
	answer := func(first, more object, n int) {
		p.now = p.now.Add(time.Hour) // the keys are fetched again
		keys := []any{first}
		for range n {
			keys = append(keys, more)
		}
		p.Keys = func(w http.ResponseWriter, _ *http.Request) { openidtest.Reply(w, object{"keys": keys}) }
	}
	answer(own, other, 2000)
	if err := p.verify(p.Issue(nil)); err != nil {
		t.Errorf("beside many keys of another type: %v", err)
	}
	answer(own, own, 99)
	if err := p.verify(p.Issue(nil)); err != nil {
		t.Errorf("with a hundred keys: %v", err)
	}
	answer(own, own, 100)
	if err := p.verify(p.Issue(nil)); !errors.Is(err, openid.ErrRefused) {
		t.Errorf("with more than a hundred keys: %v", err)
	}
}

// Tokens of new keys of the provider are accepted, and tokens of unknown keys do not cause endless requests.
func TestKeysAreFetchedNowAndThen(t *testing.T) {
	t.Parallel()
	p := newRegistered(t)
	unknown := openidtest.JWT(object{"alg": "RS256", "kid": "k2"},
		object{"iss": p.URL, "sub": "s", "aud": client, "exp": now.Add(time.Hour).Unix(), "iat": now.Unix()},
		openidtest.RS256(openidtest.Key))
	for range 20 {
		if err := p.verify(unknown); !errors.Is(err, openid.ErrRefused) {
			t.Fatal(err)
		}
	}
	if p.Fetched != 1 {
		t.Errorf("the keys were fetched %d times", p.Fetched)
	}
	p.now = p.now.Add(10 * time.Second)
	if err := p.verify(unknown); !errors.Is(err, openid.ErrRefused) || p.Fetched != 2 {
		t.Errorf("%v, fetched %d times", err, p.Fetched)
	}
	if err := p.verify(p.Issue(nil)); err != nil {
		t.Error(err)
	}
}

func TestProvidersOfProgramsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for why, c := range map[string]struct {
		change func(p *registered)
		want   error
	}{
		"no thumbprint": {func(p *registered) { p.r.Thumbprints = nil }, new(openid.CertificateError)},
		"another thumbprint": {func(p *registered) { p.r.Thumbprints = []string{strings.Repeat("0", 40)} },
			new(openid.CertificateError)},
		"nothing listens": {func(p *registered) { p.keys = openid.NewKeys(refuseDial, time.Now) },
			openid.ErrUnreachable},
		"another issuer": {func(p *registered) {
			p.Metadata = func(m object) { m["issuer"] = "https://evil.example" }
		}, openid.ErrUnreachable},
		"keys without TLS": {func(p *registered) {
			p.Metadata = func(m object) { m["jwks_uri"] = "http://127.0.0.1/keys" }
		}, openid.ErrUnreachable},
		"keys by a redirect": {func(p *registered) {
			p.Keys = func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "https://evil.example", http.StatusFound)
			}
		}, openid.ErrUnreachable},
		"no keys": {func(p *registered) {
			p.Keys = func(w http.ResponseWriter, _ *http.Request) { openidtest.Reply(w, object{"keys": []any{}}) }
		}, openid.ErrRefused},
		"keys that are huge": {func(p *registered) {
			p.Keys = func(w http.ResponseWriter, _ *http.Request) {
				openidtest.Reply(w, object{"x": strings.Repeat("x", 1<<20)})
			}
		}, openid.ErrRefused},
	} {
		p := newRegistered(t)
		c.change(p)
		err := p.verify(p.Issue(nil))
		if _, wanted := errors.AsType[*openid.CertificateError](c.want); wanted {
			if _, ok := errors.AsType[*openid.CertificateError](err); !ok {
				t.Errorf("%s: %v", why, err)
			}
		} else if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", why, err)
		}
	}
}

func refuseDial(context.Context, string, string) (net.Conn, error) { return nil, errors.New("closed") }

// A provider that hangs delays some tokens, but not another account's.
func TestProviderThatHangs(t *testing.T) {
	t.Parallel()
	p := newRegistered(t)
	dialled, ctx := make(chan struct{}), t.Context()
	p.keys = openid.NewKeys(func(dial context.Context, _, _ string) (net.Conn, error) {
		dialled <- struct{}{}
		<-dial.Done()
		return nil, dial.Err()
	}, func() time.Time { return now })
	token, err := openid.ParseToken(p.Issue(nil))
	if err != nil {
		t.Fatal(err)
	}
	hung, cancel := context.WithCancel(ctx)
	done := make(chan error)
	for range 16 {
		go func() { done <- p.keys.Verify(hung, p.r, token) }()
	}
	<-dialled
	left, end := context.WithCancel(ctx)
	end()
	eventually.Succeeds(t, func() error { // as soon as all sixteen wait
		if err := p.keys.Verify(left, p.r, token); !errors.Is(err, openid.ErrBusy) {
			return err
		}
		return nil
	})
	if err := p.keys.Verify(left, openid.Registration{Account: "444455556666", Issuer: p.URL}, token); !errors.Is(err,
		openid.ErrUnreachable) {
		t.Errorf("another account: %v", err)
	}
	cancel()
	for range 16 {
		if err := <-done; !errors.Is(err, openid.ErrUnreachable) {
			t.Error(err)
		}
	}
}

// Every text is refused, or yields claims that are short.
func FuzzParseToken(f *testing.F) {
	for _, seed := range []string{"", "a.b.c",
		openidtest.JWT(object{"alg": "RS256"}, object{"iss": "https://x", "sub": "s", "aud": "a", "exp": 1, "iat": 1},
			openidtest.RS256(openidtest.Key))} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		token, err := openid.ParseToken(raw)
		_, missing := errors.AsType[*openid.MissingClaimError](err)
		switch {
		case err != nil && !missing && !errors.Is(err, openid.ErrNoToken):
			t.Errorf("%q: %v", raw, err)
		case err == nil &&
			(token.Issuer == "" || token.Subject == "" || len(token.Audience) == 0 || len(token.Subject) > 255):
			t.Errorf("%q: %+v", raw, token)
		}
	})
}
