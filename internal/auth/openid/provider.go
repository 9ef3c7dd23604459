package openid

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// The reasons for a refused sign-in.
var (
	// ErrUnreachable reports that the provider does not answer, or its answer is not a provider's.
	ErrUnreachable = errors.New("the provider cannot be used")
	// ErrRefused reports that the provider does not vouch for the person, or that its answer proves nothing.
	ErrRefused = errors.New("the provider has proven nothing")
	// ErrNoName reports that the provider does not name the person, or not with a valid session name.
	ErrNoName = errors.New("the person has no name that can be used")
)

const (
	// rediscoverAfter is how long the provider's metadata and keys are used.
	rediscoverAfter = time.Hour
	// retryAfter is how long an unusable provider is not contacted.
	retryAfter = 5 * time.Second
	// issuedWithin is the maximum age of an ID token that answers a recent request; skew is the tolerated difference of
	// clocks.
	issuedWithin = 10 * time.Minute
	skew         = 5 * time.Minute
	maxIDToken   = 64 << 10
	maxCode      = 8 << 10
)

// algorithms are the signature algorithms with which only the provider can sign.
var algorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.PS256, oidc.PS384, oidc.PS512,
	oidc.EdDSA,
}

// Provider is an OpenID Connect provider. Its methods are safe for concurrent use.
type Provider struct {
	config Config
	roles  []role
	client *http.Client

	asking chan struct{} // one element while the provider is being asked about itself

	mu     sync.Mutex
	known  *metadata // nil until the provider has been reached
	failed error     // why it was unreachable, at failedAt
	at     time.Time
}

// metadata is the provider's description of itself.
type metadata struct {
	*oidc.Provider
	endpoint    oauth2.Endpoint
	namesIssuer bool // in answers to the browser (RFC 9207)
	learnt      time.Time
}

// New returns the provider in a valid configuration. It does not contact the provider yet.
func New(c Config) (*Provider, error) {
	roles, err := c.roles()
	if err != nil {
		return nil, err
	}
	if _, err := c.secret(); err != nil {
		return nil, err
	}
	return &Provider{config: c, roles: roles, client: newClient(), asking: make(chan struct{}, 1)}, nil
}

// Name returns the provider's name for people.
func (p *Provider) Name() string {
	if p.config.Name != "" {
		return p.config.Name
	}
	u, err := url.Parse(p.config.Issuer)
	if err != nil {
		return p.config.Issuer
	}
	return u.Hostname()
}

// Issuer returns the provider's URL.
func (p *Provider) Issuer() string { return p.config.Issuer }

// ClientID returns this server's id at the provider.
func (p *Provider) ClientID() string { return p.config.ClientID }

// Key returns the provider's name in ARNs and condition keys: its URL without the scheme.
func (p *Provider) Key() string {
	_, rest, _ := strings.Cut(p.config.Issuer, "://")
	return rest
}

// Role returns the role for a person in these groups, and the matching group; ok is false if there is none.
func (p *Provider) Role(groups []string) (arn, group string, ok bool) {
	for _, r := range p.roles {
		if slices.Contains(groups, r.group) {
			return r.arn, r.group, true
		}
	}
	return "", "", false
}

// Gives reports whether members of a group still get a role.
func (p *Provider) Gives(group, arn string) bool {
	return slices.Contains(p.roles, role{group, arn})
}

// Begin returns the URL to which a browser with a secret is sent. The provider sends it back to the address redirect.
func (p *Provider) Begin(ctx context.Context, secret Secret, redirect string, now time.Time) (string, error) {
	m, err := p.discover(ctx, now)
	if err != nil {
		return "", err
	}
	return p.oauth(
		m,
		redirect,
		"",
	).AuthCodeURL(
		secret.State(),
		oidc.Nonce(secret.nonce()),
		oauth2.S256ChallengeOption(secret.verifier()),
	), nil
}

func (p *Provider) oauth(m *metadata, redirect, clientSecret string) *oauth2.Config {
	return &oauth2.Config{
		ClientID:     p.config.ClientID,
		ClientSecret: clientSecret,
		Endpoint:     m.endpoint,
		RedirectURL:  redirect,
		Scopes:       p.config.scopes(),
	}
}

// Answer is the provider's answer, through the browser.
type Answer struct {
	Code   string
	Issuer string // empty if unknown
}

// Finish returns the person at the browser with a secret. redirect is the argument of Begin. With ErrNoName the person
// has no Name, but all other fields.
func (p *Provider) Finish(
	ctx context.Context, secret Secret, redirect string, a Answer, now time.Time,
) (*Person, error) {
	m, err := p.discover(ctx, now)
	if err != nil {
		return nil, err
	}
	switch {
	case a.Issuer != p.config.Issuer && (a.Issuer != "" || m.namesIssuer):
		return nil, fmt.Errorf("%w: the answer comes from the issuer %s", ErrRefused, brief(a.Issuer))
	case a.Code == "" || len(a.Code) > maxCode:
		return nil, fmt.Errorf("%w: the code has %d bytes", ErrRefused, len(a.Code))
	}
	clientSecret, err := p.config.secret()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	ctx = oidc.ClientContext(ctx, p.client)
	token, err := p.oauth(m, redirect, clientSecret).Exchange(ctx, a.Code, oauth2.VerifierOption(secret.verifier()))
	if err != nil {
		return nil, exchangeError(err)
	}
	id, own, err := p.verify(ctx, m, token, secret, now)
	if err != nil {
		return nil, err
	}
	person := &Person{Issuer: p.config.Issuer, Subject: id.Subject}
	if methods, ok := own.at("amr"); ok {
		person.Methods = texts(methods)
		person.Methods = person.Methods[:min(len(person.Methods), maxMethods)]
	}
	more := claims{}
	if m.UserInfoEndpoint() != "" && (own.lacks(p.config.NameClaim) || own.lacks(p.config.GroupsClaim)) {
		if more, err = p.userInfo(ctx, m, token, id.Subject); err != nil {
			return nil, err
		}
	}
	return person, p.describe(person, own, more)
}

// describe adds a person's groups and name. Each comes from the first source that has the claim.
func (p *Provider) describe(person *Person, sources ...claims) (err error) {
	from := func(claim string) claims {
		for _, c := range sources {
			if !c.lacks(claim) {
				return c
			}
		}
		return nil
	}
	groups, _ := from(p.config.GroupsClaim).at(p.config.GroupsClaim)
	person.Groups = texts(groups)
	if p.config.GroupsClaim == UsualNameClaim && !from(UsualNameClaim).isVerified() {
		person.Groups = nil // an unverified address
	}
	person.Name, err = from(p.config.NameClaim).name(p.config.NameClaim)
	return err
}

// verify returns the ID token that came with the access token, and its claims.
func (p *Provider) verify(
	ctx context.Context,
	m *metadata,
	token *oauth2.Token,
	secret Secret,
	now time.Time,
) (*oidc.IDToken, claims, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok || len(raw) > maxIDToken {
		return nil, nil, fmt.Errorf("%w: there is no ID token of at most %d bytes", ErrRefused, maxIDToken)
	}
	verifier := m.Verifier(
		&oidc.Config{
			ClientID: p.config.ClientID, SupportedSigningAlgs: algorithms, Now: func() time.Time { return now },
		},
	)
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %s", ErrRefused, brief(err.Error()))
	}
	var text json.RawMessage
	if err := id.Claims(&text); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	own, err := parseClaims(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	party, named := own["azp"]
	switch {
	case id.Issuer != p.config.Issuer: // the library lets one provider leave out the scheme
		err = errors.New("the ID token names another issuer")
	case subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(secret.nonce())) != 1:
		err = errors.New("the ID token was not issued for this sign-in: its nonce is another")
	case named && party != p.config.ClientID || !named && len(id.Audience) > 1:
		err = errors.New("the ID token was issued for another client (azp)")
	case id.IssuedAt.Before(now.Add(-issuedWithin-skew)) || id.IssuedAt.After(now.Add(skew)):
		err = fmt.Errorf(
			"the ID token was issued at %s, and here it is %s",
			id.IssuedAt.UTC().Format(time.RFC3339),
			now.UTC().Format(time.RFC3339),
		)
	case id.Subject == "" || len(id.Subject) > maxSubject:
		err = fmt.Errorf("the ID token has a subject of %d bytes", len(id.Subject))
	case id.AccessTokenHash != "":
		err = id.VerifyAccessToken(token.AccessToken)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return id, own, nil
}

// userInfo asks the provider for claims that its ID token omits.
func (p *Provider) userInfo(ctx context.Context, m *metadata, token *oauth2.Token, subject string) (claims, error) {
	info, err := m.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, fmt.Errorf("%w: UserInfo: %s", ErrUnreachable, brief(err.Error()))
	}
	if info.Subject != subject {
		return nil, fmt.Errorf("%w: UserInfo is about another person than the ID token", ErrRefused)
	}
	var text json.RawMessage
	if err := info.Claims(&text); err != nil {
		return nil, fmt.Errorf("%w: UserInfo: %w", ErrRefused, err)
	}
	c, err := parseClaims(text)
	if err != nil {
		return nil, fmt.Errorf("%w: UserInfo: %w", ErrRefused, err)
	}
	return c, nil
}

// exchangeError distinguishes a provider that refuses a code from one that cannot be used.
func exchangeError(err error) error {
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.Response != nil &&
		refused.Response.StatusCode < 500 {
		if refused.ErrorCode == "invalid_client" || refused.ErrorCode == "unauthorized_client" {
			return fmt.Errorf(
				"%w: it does not take --oidc-client-id with this secret: %s", ErrUnreachable,
				brief(refused.ErrorDescription),
			)
		}
		return fmt.Errorf(
			"%w: it answers %d %s %s",
			ErrRefused,
			refused.Response.StatusCode,
			brief(refused.ErrorCode),
			brief(refused.ErrorDescription),
		)
	}
	return fmt.Errorf("%w: %s", ErrUnreachable, brief(err.Error()))
}

// discover returns the provider's metadata. One request at a time asks for it.
func (p *Provider) discover(ctx context.Context, now time.Time) (*metadata, error) {
	if m, err := p.recall(now); m != nil || err != nil {
		return m, err
	}
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, context.Cause(ctx))
	}
	if m, err := p.recall(now); m != nil || err != nil {
		return m, err
	}
	m, err := p.ask(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		m.learnt = now
		p.known, p.failed = m, nil
		return m, nil
	}
	if ctx.Err() == nil { // it was not the browser that has left
		p.failed, p.at = fmt.Errorf("%w: %w", ErrUnreachable, err), now
	}
	if p.known != nil {
		return p.known, nil // the metadata of an hour ago
	}
	return nil, fmt.Errorf("%w: %w", ErrUnreachable, err)
}

// recall returns the known provider, or why it was unreachable a moment ago, or neither.
func (p *Provider) recall(now time.Time) (*metadata, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	failing := p.failed != nil && now.Sub(p.at).Abs() < retryAfter
	switch {
	case p.known != nil && (failing || now.Sub(p.known.learnt).Abs() < rediscoverAfter):
		return p.known, nil
	case failing:
		return nil, p.failed
	}
	return nil, nil
}

// ask asks the provider for its metadata.
func (p *Provider) ask(ctx context.Context) (*metadata, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, p.client), p.config.Issuer)
	if err != nil {
		return nil, errors.New(brief(err.Error()))
	}
	var more struct {
		JWKS        string   `json:"jwks_uri"`
		Methods     []string `json:"token_endpoint_auth_methods_supported"`
		NamesIssuer bool     `json:"authorization_response_iss_parameter_supported"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, errors.New(brief(err.Error()))
	}
	m := &metadata{Provider: found, endpoint: found.Endpoint(), namesIssuer: more.NamesIssuer}
	for name, text := range map[string]string{
		"authorization_endpoint": m.endpoint.AuthURL, "token_endpoint": m.endpoint.TokenURL, "jwks_uri": more.JWKS,
	} {
		if err := checkURL(text); err != nil {
			return nil, fmt.Errorf("its %s is %s: %w", name, brief(text), err)
		}
	}
	m.endpoint.AuthStyle = oauth2.AuthStyleInHeader // the default, if the provider does not say
	if p.config.ClientSecretFile == "" || len(more.Methods) > 0 && !slices.Contains(more.Methods, "client_secret_basic") {
		m.endpoint.AuthStyle = oauth2.AuthStyleInParams
	}
	return m, nil
}
