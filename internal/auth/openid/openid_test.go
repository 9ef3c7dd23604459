package openid_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/auth/openid"
	"github.com/sluicemq/sluice/internal/auth/openid/openidtest"
)

func TestPersonIsWhomTheProviderVouchesFor(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	ann, err := p.signIn(p.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	if ann.Name != "ann@example.com" || ann.Subject != "248289761001" || ann.Issuer != p.URL ||
		!slices.Equal(ann.Groups, []string{"staff", "admins"}) ||
		!slices.Equal(ann.Methods, []string{"pwd", "otp"}) {
		t.Errorf("person: %+v", ann)
	}
	q := p.Asked[0]
	if q.Get("grant_type") != "authorization_code" || q.Get("redirect_uri") != redirect ||
		len(q.Get("code_verifier")) != 43 || p.Basic[0] != "sluice:s3cret" {
		t.Errorf("the token endpoint got %v from %s", q, p.Basic[0])
	}
}

// The proof that the same client started the sign-in.
func TestVerifierFitsTheChallenge(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	o, err := openid.New(p.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	secret := openid.NewSecret()
	to, err := o.Begin(t.Context(), secret, redirect, now)
	if err != nil {
		t.Fatal(err)
	}
	nonce, err := begin(o, secret)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Finish(t.Context(), secret, redirect, openid.Answer{Code: nonce}, now); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(p.Asked[0].Get("code_verifier")))
	if !strings.Contains(to, "code_challenge="+openidtest.B64(sum[:])) {
		t.Errorf("%s does not have the challenge of %s", to, p.Asked[0].Get("code_verifier"))
	}
}

// Answers of the provider that prove nothing sign in no user.
func TestHostileTokens(t *testing.T) {
	t.Parallel()
	set := func(name string, value any) func(object) { return func(c object) { c[name] = value } }
	unset := func(name string) func(object) { return func(c object) { delete(c, name) } }
	for why, c := range map[string]struct {
		token func(object)
		sign  func(header, claims object) string
	}{
		"another issuer":           {token: set("iss", "https://evil.example")},
		"no issuer":                {token: unset("iss")},
		"another audience":         {token: set("aud", "another")},
		"no audience":              {token: unset("aud")},
		"another audience in list": {token: set("aud", []string{"another"})},
		"several, no party":        {token: set("aud", []string{client, "another"})},
		"issued to another party": {token: func(c object) {
			c["aud"], c["azp"] = []string{client, "another"},
				"another"
		}},
		"another party":           {token: set("azp", "another")},
		"a party that is no text": {token: set("azp", 7)},
		"expired":                 {token: set("exp", now.Add(-time.Second).Unix())},
		"never expires":           {token: unset("exp")},
		"expires in text":         {token: set("exp", "tomorrow")},
		"issued long ago":         {token: set("iat", now.Add(-16*time.Minute).Unix())},
		"issued in the future":    {token: set("iat", now.Add(6*time.Minute).Unix())},
		"issued never":            {token: unset("iat")},
		"not yet good":            {token: set("nbf", now.Add(10*time.Minute).Unix())},
		"another nonce":           {token: set("nonce", "x")},
		"no nonce":                {token: unset("nonce")},
		"an empty nonce":          {token: set("nonce", "")},
		"no subject":              {token: unset("sub")},
		"a long subject":          {token: set("sub", strings.Repeat("x", 256))},
		"another access token":    {token: set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA")},
		"the algorithm none": {sign: func(h, c object) string {
			h["alg"] = "none"
			return openidtest.JWT(h, c, func([]byte) []byte { return nil })
		}},
		"the algorithm nOnE": {sign: func(h, c object) string {
			h["alg"] = "nOnE"
			return openidtest.JWT(h, c, func([]byte) []byte { return nil })
		}},
		"no signature": {sign: func(h, c object) string {
			return openidtest.JWT(h, c,
				func([]byte) []byte { return nil })
		}},
		"two parts": {sign: func(h, c object) string {
			return strings.Join(strings.Split(openidtest.JWT(h, c, openidtest.RS256(openidtest.Key)), ".")[:2], ".")
		}},
		"the public key as key": {sign: func(h, c object) string {
			h["alg"] = "HS256"
			return openidtest.JWT(h, c,
				openidtest.HS256)
		}},
		"another's key": {sign: func(h, c object) string {
			return openidtest.JWT(h, c,
				openidtest.RS256(openidtest.Other))
		}},
		"another's key without an id": {sign: func(h, c object) string {
			delete(h, "kid")
			return openidtest.JWT(h, c, openidtest.RS256(openidtest.Other))
		}},
		"a key that it brings along": {sign: func(h, c object) string {
			h["jwk"] = object{"kty": "RSA", "n": openidtest.B64(openidtest.Other.N.Bytes()), "e": "AQAB"}
			delete(h, "kid")
			return openidtest.JWT(h, c, openidtest.RS256(openidtest.Other))
		}},
		"a changed claim": {sign: func(h, c object) string {
			good := strings.Split(openidtest.JWT(h, c, openidtest.RS256(openidtest.Key)), ".")
			c["groups"] = []string{"admins", "more"}
			return strings.Join([]string{good[0],
				strings.Split(openidtest.JWT(h, c, openidtest.RS256(openidtest.Key)), ".")[1], good[2]}, ".")
		}},
		"no token":   {sign: func(object, object) string { return "" }},
		"not one":    {sign: func(object, object) string { return "a.b.c" }},
		"a huge one": {token: set("picture", strings.Repeat("x", 80<<10))},
		"a list":     {sign: func(h, _ object) string { return jwtOf(h, `[1]`) }},
		"null":       {sign: func(h, _ object) string { return jwtOf(h, `null`) }},
	} {
		p := newProvider(t)
		p.Token, p.Sign = c.token, c.sign
		person, err := p.signIn(p.config(nil))
		if !errors.Is(err, openid.ErrRefused) || person != nil {
			t.Errorf("%s: %v %v", why, person, err)
		}
		if err != nil && len(err.Error()) > 600 {
			t.Errorf("%s: the error has %d bytes", why, len(err.Error()))
		}
	}
}

func jwtOf(header object, claims string) string {
	parts := strings.Split(openidtest.JWT(header, object{}, openidtest.RS256(openidtest.Key)), ".")
	text := parts[0] + "." + openidtest.B64([]byte(claims))
	return text + "." + openidtest.B64(openidtest.RS256(openidtest.Key)([]byte(text)))
}

// Unusual but valid tokens.
func TestHarmlessTokens(t *testing.T) {
	t.Parallel()
	for why, token := range map[string]func(object){
		"several audiences, and we are the party": func(c object) {
			c["aud"], c["azp"] = []string{"another", client},
				client
		},
		"a clock that is behind":        func(c object) { c["iat"] = now.Add(-4 * time.Minute).Unix() },
		"a clock that is ahead":         func(c object) { c["iat"] = now.Add(4 * time.Minute).Unix() },
		"verified in text":              func(c object) { c["email_verified"] = "true" },
		"one group":                     func(c object) { c["groups"] = "admins" },
		"groups as members":             func(c object) { c["groups"] = object{"admins": object{"x": 1}} },
		"other things among the groups": func(c object) { c["groups"] = []any{1, nil, "admins", object{}} },
	} {
		p := newProvider(t)
		p.Token = token
		person, err := p.signIn(p.config(nil))
		if err != nil || person.Name != "ann@example.com" || !slices.Contains(person.Groups, "admins") {
			t.Errorf("%s: %+v %v", why, person, err)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for why, c := range map[string]struct {
		claim string
		token func(object)
		want  string // empty: no usable group
	}{
		"an address that is verified":  {"email", func(object) {}, "ann@example.com"},
		"one that is not":              {"email", func(c object) { c["email_verified"] = false }, ""},
		"one of which nothing is said": {"email", func(c object) { delete(c, "email_verified") }, ""},
		"none":                         {"email", func(c object) { delete(c, "email") }, ""},
		"another claim": {"preferred_username", func(c object) { c["preferred_username"] = "ann" },
			"ann"},
		"the subject":        {"sub", func(object) {}, "248289761001"},
		"one within another": {"a.b", func(c object) { c["a"] = object{"b": "ann"} }, "ann"},
		"one with dots": {"https://example.com/name",
			func(c object) { c["https://example.com/name"] = "ann" }, "ann"},
		"one letter":                 {"n", func(c object) { c["n"] = "a" }, ""},
		"too long":                   {"n", func(c object) { c["n"] = strings.Repeat("a", 65) }, ""},
		"spaces":                     {"n", func(c object) { c["n"] = "Ann Example" }, ""},
		"a slash":                    {"n", func(c object) { c["n"] = "ann/root" }, ""},
		"a line":                     {"n", func(c object) { c["n"] = "ann\n" }, ""},
		"a letter that looks like a": {"n", func(c object) { c["n"] = "аnn" }, ""},
		"a number":                   {"n", func(c object) { c["n"] = 77 }, ""},
		"a list":                     {"n", func(c object) { c["n"] = []string{"ann"} }, ""},
		"nothing":                    {"n", func(c object) { c["n"] = nil }, ""},
	} {
		p := newProvider(t)
		p.Token = c.token
		person, err := p.signIn(p.config(func(o *openid.Config) { o.NameClaim = c.claim }))
		if person == nil || person.Name != c.want || (c.want == "") != errors.Is(err, openid.ErrNoName) ||
			c.want != "" && err != nil {
			t.Errorf("%s: %+v %v, want %q", why, person, err, c.want)
		}
	}
}

// An address that anyone may have written into their profile is not a group, either.
func TestUnverifiedAddressIsNoGroup(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	config := p.config(func(c *openid.Config) { c.GroupsClaim, c.NameClaim = "email", "sub" })
	if ann, err := p.signIn(config); err != nil || !slices.Equal(ann.Groups, []string{"ann@example.com"}) {
		t.Errorf("%+v %v", ann, err)
	}
	p.Token = func(c object) { c["email_verified"] = false }
	if ann, err := p.signIn(config); err != nil || len(ann.Groups) > 0 {
		t.Errorf("%+v %v", ann, err)
	}
}

// A provider may leave claims to UserInfo, which must be about the same person.
func TestUserInfo(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.Token = func(c object) { delete(c, "email"); delete(c, "email_verified") }
	p.UserInfo = object{
		"sub": "248289761001", "email": "ann@example.org", "email_verified": true, "groups": []string{"other"},
	}
	if ann, err := p.signIn(p.config(nil)); err != nil || ann.Name != "ann@example.org" ||
		!slices.Contains(ann.Groups, "admins") {
		t.Errorf("%+v %v", ann, err)
	}
	p.UserInfo["sub"] = "somebody"
	if _, err := p.signIn(p.config(nil)); !errors.Is(err, openid.ErrRefused) {
		t.Errorf("of another person: %v", err)
	}
	// An address in one answer, and its verification in the other, prove nothing.
	p.Token = func(c object) { delete(c, "email_verified"); delete(c, "groups") }
	p.UserInfo = object{"sub": "248289761001", "email_verified": true, "groups": []string{"admins"}}
	if _, err := p.signIn(p.config(nil)); !errors.Is(err, openid.ErrNoName) {
		t.Errorf("an address that is verified elsewhere: %v", err)
	}
}

func TestRolesAreTheFirstThatFits(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	o, err := openid.New(p.config(func(c *openid.Config) {
		c.Roles = append([]string{"cn=ops,ou=it=arn:aws:iam::000000000000:role/team=/ops"}, c.Roles...)
	}))
	if err != nil {
		t.Fatal(err)
	}
	for groups, want := range map[string]string{
		"": "", "x": "", "staff": "role/staff", "staff admins": "role/admin", "admins staff": "role/admin",
		"cn=ops,ou=it": "role/team=/ops", "Staff": "", "cn=ops": "",
	} {
		arn, group, ok := o.Role(strings.Fields(groups))
		if ok != (want != "") || !strings.HasSuffix(arn, want) || ok && !o.Gives(group, arn) {
			t.Errorf("%q: %s %s %v, want %s", groups, arn, group, ok, want)
		}
	}
	if o.Gives("staff", "arn:aws:iam::000000000000:role/admin") || o.Gives("", "") {
		t.Error("an unassigned role is given")
	}
}

func TestAnswersThatAreNotForUs(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.Metadata = func(m object) { m["authorization_response_iss_parameter_supported"] = true }
	o, err := openid.New(p.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	secret := openid.NewSecret()
	nonce, err := begin(o, secret)
	if err != nil {
		t.Fatal(err)
	}
	for why, a := range map[string]openid.Answer{
		"another issuer": {Code: nonce, Issuer: "https://evil.example"}, "no issuer": {Code: nonce},
		"no code":     {Issuer: p.URL},
		"a huge code": {Code: strings.Repeat("x", 9<<10), Issuer: p.URL},
	} {
		if _, err := o.Finish(t.Context(), secret, redirect, a, now); !errors.Is(err, openid.ErrRefused) {
			t.Errorf("%s: %v", why, err)
		}
	}
	if len(p.Asked) > 0 {
		t.Error("the provider was called for another's sign-in")
	}
	if _, err := o.Finish(t.Context(), secret, redirect, openid.Answer{Code: nonce, Issuer: p.URL}, now); err != nil {
		t.Error(err)
	}
	// The code of one browser is useless to another.
	if _, err := o.Finish(t.Context(), openid.NewSecret(), redirect, openid.Answer{Code: nonce, Issuer: p.URL},
		now); !errors.Is(err, openid.ErrRefused) {
		t.Errorf("another browser: %v", err)
	}
}

func TestStateIsOfOneBrowser(t *testing.T) {
	t.Parallel()
	a, b := openid.NewSecret(), openid.NewSecret()
	if !a.Began(a.State()) || a.Began(b.State()) || a.Began("") || openid.Secret("").Began("") ||
		openid.Secret("").Began(openid.Secret("").State()) {
		t.Error("a state is accepted as another's")
	}
	if a == b || !a.Valid() || openid.Secret("AAAA").Valid() || openid.Secret(string(a)+"A").Valid() {
		t.Error("secrets")
	}
}

// A failing provider is not called for a moment, and its statements about itself are bounded and checked.
func TestProvidersThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for why, metadata := range map[string]func(object){
		"another issuer":           func(m object) { m["issuer"] = "https://evil.example" },
		"no token endpoint":        func(m object) { delete(m, "token_endpoint") },
		"no keys":                  func(m object) { delete(m, "jwks_uri") },
		"a page that is a program": func(m object) { m["authorization_endpoint"] = "javascript:alert(1)" },
		"a page in the clear":      func(m object) { m["authorization_endpoint"] = "http://login.example.com/" },
		"a token in the clear":     func(m object) { m["token_endpoint"] = "http://10.0.0.1/token" },
		"keys in the clear":        func(m object) { m["jwks_uri"] = "http://login.example.com/keys" },
		"keys of a file":           func(m object) { m["jwks_uri"] = "file:///etc/passwd" },
		"too much":                 func(m object) { m["x"] = strings.Repeat("x", 600<<10) },
		"not what is expected":     func(m object) { m["token_endpoint_auth_methods_supported"] = 7 },
	} {
		p := newProvider(t)
		p.Metadata = metadata
		o, err := openid.New(p.config(nil))
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err := o.Begin(t.Context(), openid.NewSecret(), redirect,
				now); !errors.Is(err, openid.ErrUnreachable) || len(err.Error()) > 600 {
				t.Errorf("%s: %v", why, err)
			}
		}
		if p.Described != 1 {
			t.Errorf("%s: asked %d times in a moment", why, p.Described)
		}
		p.Metadata = nil
		if _, err := o.Begin(t.Context(), openid.NewSecret(), redirect, now.Add(6*time.Second)); err != nil {
			t.Errorf("%s: it works again: %v", why, err)
		}
	}
}

func TestTokenEndpointsThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	moved := false
	for why, c := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"it fails": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, openid.ErrUnreachable},
		"a refused code": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(400)
			openidtest.Reply(w, object{"error": "invalid_grant"})
		}, openid.ErrRefused},
		"a wrong secret": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(401)
			openidtest.Reply(w, object{"error": "invalid_client"})
		}, openid.ErrUnreachable},
		"no JSON": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, openid.ErrUnreachable},
		"too much": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, strings.Repeat(" ", 2<<20)) },
			openid.ErrUnreachable},
		"no ID token": {func(w http.ResponseWriter, _ *http.Request) {
			openidtest.Reply(w, object{"access_token": "at", "token_type": "Bearer"})
		}, openid.ErrRefused},
		"an ID token of 7": {func(w http.ResponseWriter, _ *http.Request) {
			openidtest.Reply(w, object{"access_token": "at", "id_token": 7})
		}, openid.ErrRefused},
		"another place": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" {
				moved = true
			}
			http.Redirect(w, r, "/token?again", http.StatusTemporaryRedirect)
		}, openid.ErrUnreachable},
	} {
		p := newProvider(t)
		p.Answer = c.answer
		if _, err := p.signIn(p.config(nil)); !errors.Is(err, c.want) || len(err.Error()) > 600 {
			t.Errorf("%s: %v", why, err)
		}
	}
	if moved {
		t.Error("a redirect was followed, with the code and the secret")
	}
}

// The provider's configuration is used while the provider is unreachable, and read again every hour.
func TestProviderIsAway(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	o, err := openid.New(p.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	at := now
	do := func(want int) {
		t.Helper()
		if _, err := o.Begin(t.Context(), openid.NewSecret(), redirect, at); err != nil || p.Described != want {
			t.Errorf("%v: described %d times, want %d: %v", at.Sub(now), p.Described, want, err)
		}
	}
	do(1)
	at = at.Add(59 * time.Minute)
	do(1)
	p.Metadata = func(m object) { m["issuer"] = "x" }
	at = at.Add(2 * time.Minute)
	do(2)
	do(2)
	at = at.Add(10 * time.Second)
	do(3)
}

// The client's secret can be replaced, and is sent where the provider wants it.
func TestClientSecret(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	config := p.config(nil)
	o, err := openid.New(config)
	if err != nil {
		t.Fatal(err)
	}
	secret := openid.NewSecret()
	finish := func() error {
		nonce, err := begin(o, secret)
		if err == nil {
			_, err = o.Finish(t.Context(), secret, redirect, openid.Answer{Code: nonce}, now)
		}
		return err
	}
	if err := os.WriteFile(config.ClientSecretFile, []byte("new:one"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := finish(); err != nil || p.Basic[0] != "sluice:new%3Aone" {
		t.Errorf("%v %v", p.Basic, err)
	}
	if err := os.Remove(config.ClientSecretFile); err != nil {
		t.Fatal(err)
	}
	if err := finish(); !errors.Is(err, openid.ErrUnreachable) {
		t.Errorf("without the file: %v", err)
	}
	if _, err := openid.New(config); err == nil || !strings.Contains(err.Error(), "--oidc-client-secret-file") {
		t.Errorf("without the file: %v", err)
	}

	p.Metadata = func(m object) { m["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"} }
	if _, err := p.signIn(p.config(nil)); err != nil || p.Asked[1].Get("client_secret") != "s3cret" ||
		p.Basic[1] != ":" {
		t.Errorf("in the form: %v %v %v", p.Asked, p.Basic, err)
	}
	if _, err := p.signIn(p.config(func(c *openid.Config) { c.ClientSecretFile = "" })); err != nil ||
		p.Asked[2].Get("client_id") != client || p.Asked[2].Has("client_secret") {
		t.Errorf("a client without a secret: %v %v", p.Asked, err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	good := openid.Config{
		Issuer: "https://login.example.com/realms/main", ClientID: "c", NameClaim: "email", GroupsClaim: "groups",
		Scopes: []string{"email"},
		Roles:  []string{"a=arn:aws:iam::000000000000:role/r"},
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	if err := new(openid.Config).Validate(); err != nil {
		t.Error(err)
	}
	for why, c := range map[string]struct {
		change func(*openid.Config)
		want   string
	}{
		"in the clear":      {func(c *openid.Config) { c.Issuer = "http://login.example.com" }, "https"},
		"like this machine": {func(c *openid.Config) { c.Issuer = "http://localhost.example.com" }, "https"},
		"no host":           {func(c *openid.Config) { c.Issuer = "https://" }, "--oidc-issuer"},
		"no URL":            {func(c *openid.Config) { c.Issuer = "login.example.com" }, "--oidc-issuer"},
		"a query":           {func(c *openid.Config) { c.Issuer += "?a=b" }, "query"},
		"a fragment":        {func(c *openid.Config) { c.Issuer += "#a" }, "--oidc-issuer"},
		"a user": {func(c *openid.Config) { c.Issuer = "https://a:b@login.example.com" },
			"--oidc-issuer"},
		"no client":          {func(c *openid.Config) { c.ClientID = "" }, "--oidc-client-id"},
		"no claim of names":  {func(c *openid.Config) { c.NameClaim = "" }, "--oidc-name-claim"},
		"no claim of groups": {func(c *openid.Config) { c.GroupsClaim = "" }, "--oidc-groups-claim"},
		"a long name":        {func(c *openid.Config) { c.Name = strings.Repeat("x", 300) }, "--oidc-name"},
		"two scopes in one":  {func(c *openid.Config) { c.Scopes = []string{"a b"} }, "--oidc-scope"},
		"no roles":           {func(c *openid.Config) { c.Roles = nil }, "--oidc-role"},
		"no group": {func(c *openid.Config) { c.Roles = []string{"=arn:aws:iam::000000000000:role/r"} },
			"--oidc-role"},
		"no role": {func(c *openid.Config) { c.Roles = []string{"a=r"} }, "--oidc-role"},
		"a user for a role": {func(c *openid.Config) { c.Roles = []string{"a=arn:aws:iam::000000000000:user/r"} },
			"--oidc-role"},
		"an account for a role": {func(c *openid.Config) { c.Roles = []string{"a=arn:aws:iam::1:role/r"} },
			"--oidc-role"},
	} {
		bad := good
		c.change(&bad)
		if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", why, err, c.want)
		}
	}
	for _, here := range []string{"http://localhost:5556/dex", "http://127.0.0.1:1", "http://[::1]:1"} {
		c := good
		if c.Issuer = here; c.Validate() != nil {
			t.Errorf("%s: %v", here, c.Validate())
		}
	}
}

func TestProviderHasAName(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	for name, want := range map[string]string{"": "127.0.0.1", "Ours": "Ours"} {
		o, err := openid.New(p.config(func(c *openid.Config) { c.Name = name }))
		if err != nil || o.Name() != want || "http://"+o.Key() != p.URL || o.ClientID() != client {
			t.Errorf("%v: %q %q", err, o.Name(), o.Key())
		}
	}
}
