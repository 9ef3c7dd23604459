package openid

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Registration is a provider whose tokens an account accepts.
type Registration struct {
	Account     string
	Issuer      string   // its URL, which begins with https://
	Thumbprints []string // SHA-1 of certificates that are trusted beside those of the system, in hexadecimal
}

// Dialer connects to a provider. It decides which addresses the server may connect to.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// ErrBusy reports that too many tokens of a provider are being verified.
var ErrBusy = errors.New("too many tokens of this provider wait")

const (
	// programTimeout limits one request for the keys of a provider.
	programTimeout = 5 * time.Second
	// keysEvery is the minimum interval of fetching the keys of a provider: tokens with unknown keys cost the provider
	// no more.
	keysEvery = 10 * time.Second
	// maxSources is the maximum number of providers whose keys are stored.
	maxSources = 1000
	// maxVerifying is the maximum number of a provider's tokens that are verified at the same time.
	maxVerifying = 16
)

// Keys verifies tokens of programs by the keys that providers publish, which it stores for an hour. The providers of
// one account have no effect on another account. Its methods are safe for concurrent use.
type Keys struct {
	dial Dialer
	now  func() time.Time

	mu      sync.Mutex
	sources map[string]*source
}

// NewKeys returns Keys without any keys.
func NewKeys(dial Dialer, now func() time.Time) *Keys {
	return &Keys{dial: dial, now: now, sources: make(map[string]*source)}
}

// Verify checks that the provider has issued the token, and that the token is valid now. The error is ErrUnreachable,
// ErrRefused, ErrBusy or a *CertificateError.
func (k *Keys) Verify(ctx context.Context, r Registration, t *Token) error {
	if t.Issuer != r.Issuer {
		return fmt.Errorf("%w: the token names another issuer", ErrRefused)
	}
	s := k.source(r)
	select {
	case s.verifying <- struct{}{}:
		defer func() { <-s.verifying }()
	default:
		return ErrBusy
	}
	verifier, err := s.verifier(ctx, k.now())
	if err != nil {
		return err
	}
	if _, err = verifier.Verify(ctx, t.raw); err == nil {
		return nil
	}
	if failed := s.keys.failure(); failed != nil && ctx.Err() == nil {
		return failed
	}
	return fmt.Errorf("%w: %s", ErrRefused, brief(err.Error()))
}

// source returns the source of a provider's keys.
func (k *Keys) source(r Registration) *source {
	id := strings.Join(append([]string{r.Account, r.Issuer}, r.Thumbprints...), " ")
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.sources[id]
	if s == nil {
		if len(k.sources) >= maxSources {
			k.forgetOldest()
		}
		s = newSource(k, r)
		k.sources[id] = s
	}
	s.used = k.now()
	return s
}

func (k *Keys) forgetOldest() {
	oldest := ""
	for id, s := range k.sources {
		if oldest == "" || s.used.Before(k.sources[oldest].used) {
			oldest = id
		}
	}
	delete(k.sources, oldest)
}

// source is a provider and its keys.
type source struct {
	issuer    string
	client    *http.Client
	keys      *paced
	now       func() time.Time
	used      time.Time     // guarded by Keys.mu
	verifying chan struct{} // an element for each token being verified
	asking    chan struct{} // one element while the provider is being asked about itself

	mu     sync.Mutex
	known  *oidc.IDTokenVerifier
	learnt time.Time
	failed error
	at     time.Time
}

func newSource(k *Keys, r Registration) *source {
	transport := &http.Transport{
		DialTLSContext: (&trust{k.dial, slices.Clone(r.Thumbprints)}).dialTLS, DisableKeepAlives: true,
		MaxResponseHeaderBytes: maxHeader,
	}
	client := boundClient(transport, programTimeout, checkSecure)
	keys := &paced{next: client.Transport, now: k.now}
	return &source{
		issuer: r.Issuer, client: client, keys: keys, now: k.now,
		verifying: make(chan struct{}, maxVerifying), asking: make(chan struct{}, 1),
	}
}

// verifier returns the verifier of the provider's tokens. One request at a time asks the provider about itself.
func (s *source) verifier(ctx context.Context, now time.Time) (*oidc.IDTokenVerifier, error) {
	if v, err := s.recall(now); v != nil || err != nil {
		return v, err
	}
	select {
	case s.asking <- struct{}{}:
		defer func() { <-s.asking }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrUnreachable, context.Cause(ctx))
	}
	if v, err := s.recall(now); v != nil || err != nil {
		return v, err
	}
	v, err := s.ask(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err == nil:
		s.known, s.learnt, s.failed = v, now, nil
	case ctx.Err() == nil: // it was not the client that has left
		s.failed, s.at = err, now
	}
	return v, err
}

// recall returns the known provider, or why it was unreachable a moment ago, or neither.
func (s *source) recall(now time.Time) (*oidc.IDTokenVerifier, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.known != nil && now.Sub(s.learnt).Abs() < rediscoverAfter:
		return s.known, nil
	case s.failed != nil && now.Sub(s.at).Abs() < retryAfter:
		return nil, s.failed
	}
	return nil, nil
}

// ask asks the provider for the address of its keys.
func (s *source) ask(ctx context.Context) (*oidc.IDTokenVerifier, error) {
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, s.client), s.issuer)
	if err != nil {
		return nil, asUnreachable(err)
	}
	var more struct {
		JWKS string `json:"jwks_uri"`
	}
	if err := found.Claims(&more); err != nil {
		return nil, asUnreachable(err)
	}
	if err := checkSecure(more.JWKS); err != nil {
		return nil, fmt.Errorf("%w: its jwks_uri is %s: %w", ErrUnreachable, brief(more.JWKS), err)
	}
	client := &http.Client{Transport: s.keys, Timeout: s.client.Timeout, CheckRedirect: s.client.CheckRedirect}
	keys := oidc.NewRemoteKeySet(oidc.ClientContext(ctx, client), more.JWKS)
	return oidc.NewVerifier(
		s.issuer,
		keys,
		&oidc.Config{SkipClientIDCheck: true, SupportedSigningAlgs: programAlgorithms, Now: s.now},
	), nil
}

// asUnreachable reduces an error to the part that a client may see: that a certificate is not trusted.
func asUnreachable(err error) error {
	if untrusted, ok := errors.AsType[*CertificateError](err); ok {
		return untrusted
	}
	return fmt.Errorf("%w: %s", ErrUnreachable, brief(err.Error()))
}

// paced limits the rate of requests for keys, and remembers the outcome of the last one.
type paced struct {
	next http.RoundTripper
	now  func() time.Time

	mu   sync.Mutex
	last time.Time
	err  error
}

var errTooSoon = errors.New("the keys were fetched a moment ago")

// RoundTrip implements http.RoundTripper.
func (p *paced) RoundTrip(r *http.Request) (*http.Response, error) {
	if !p.take() {
		return nil, errTooSoon
	}
	res, err := p.next.RoundTrip(r)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("the keys: %s", res.Status)
		_ = res.Body.Close()
	}
	p.note(err)
	if err != nil {
		return nil, err
	}
	return boundKeys(res)
}

func (p *paced) note(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.err = err
}

// take reports whether a request may be made now.
func (p *paced) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	if !p.last.IsZero() && now.Sub(p.last).Abs() < keysEvery {
		return false
	}
	p.last = now
	return true
}

// failure returns why the last request for keys failed, or nil.
func (p *paced) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return asUnreachable(p.err)
}
