package openid_test

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
)

type object = openidtest.Object

const client = openidtest.Client

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// provider is an identity provider for a test.
type provider struct {
	*openidtest.Provider
	t *testing.T
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	return &provider{openidtest.New(t, func() time.Time { return now }), t}
}

// config returns a valid configuration.
func (p *provider) config(change func(*openid.Config)) openid.Config {
	c := openid.Config{
		Issuer: p.URL, ClientID: client, ClientSecretFile: secretFile(p.t, "s3cret\n"), Scopes: openid.UsualScopes(),
		NameClaim: openid.UsualNameClaim, GroupsClaim: openid.UsualGroupsClaim,
		Roles: []string{"admins=arn:aws:iam::000000000000:role/admin", "staff=arn:aws:iam::000000000000:role/staff"},
	}
	if change != nil {
		change(&c)
	}
	if err := c.Validate(); err != nil {
		p.t.Fatal(err)
	}
	return c
}

func secretFile(t *testing.T, secret string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(secret), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const redirect = "https://sluice.example/console/api/oidc/callback"

// signIn starts with a new browser and finishes with the nonce as the code.
func (p *provider) signIn(config openid.Config) (*openid.Person, error) {
	p.t.Helper()
	o, err := openid.New(config)
	if err != nil {
		p.t.Fatal(err)
	}
	secret := openid.NewSecret()
	nonce, err := begin(o, secret)
	if err != nil {
		return nil, err
	}
	return o.Finish(p.t.Context(), secret, redirect, openid.Answer{Code: nonce}, now)
}

// begin returns the nonce of a sign-in.
func begin(o *openid.Provider, secret openid.Secret) (string, error) {
	to, err := o.Begin(context.Background(), secret, redirect, now)
	if err != nil {
		return "", err
	}
	u, err := url.Parse(to)
	if err != nil {
		return "", err
	}
	q := u.Query()
	for name, want := range map[string]string{
		"client_id": client, "response_type": "code", "redirect_uri": redirect, "code_challenge_method": "S256",
		"state": secret.State(),
	} {
		if q.Get(name) != want {
			return "", fmt.Errorf("%s is %q, want %q", name, q.Get(name), want)
		}
	}
	for _, one := range []string{"state", "nonce", "code_challenge"} {
		if len(q.Get(one)) != 43 || strings.Contains(to, string(secret)) {
			return "", fmt.Errorf("%s: %s", one, to)
		}
	}
	if distinct := map[string]bool{
		q.Get("state"): true, q.Get("nonce"): true, q.Get("code_challenge"): true,
	}; len(distinct) != 3 {
		return "", fmt.Errorf("state, nonce and challenge are the same: %v", slices.Collect(maps.Keys(distinct)))
	}
	return q.Get("nonce"), nil
}
