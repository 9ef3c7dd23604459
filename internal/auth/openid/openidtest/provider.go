// Package openidtest provides an identity provider for tests, which can be made to give any answer. It accepts
// everyone, and otherwise follows OpenID Connect. The tests of whole programs use a third-party provider.
package openidtest

import (
	"crypto"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"sync"
	"testing"
	"time"
)

// Object is a JSON Object.
type Object = map[string]any

// Provider is an identity provider. A test alters it between requests.
type Provider struct {
	URL string
	Now func() time.Time

	Metadata  func(Object)                       // alters what it says about itself
	Token     func(Object)                       // alters the claims of the ID token
	Sign      func(header, claims Object) string // makes it
	Answer    http.HandlerFunc                   // in the place of the token endpoint's
	UserInfo  Object                             // nil: there is no such endpoint
	Asked     []url.Values                       // what came to the token endpoint
	Basic     []string                           // and by which client
	Described int                                // how often it has described itself
	Keys      http.HandlerFunc                   // in the place of the endpoint of its keys
	Fetched   int                                // how often its keys were fetched

	Thumbprint string // SHA-1 of its certificate; empty without TLS

	mu sync.Mutex // held during each request
}

// Key is the provider's key, Other is not.
var (
	Key   = newKey()
	Other = newKey()
)

// Client is the client that the provider accepts.
const Client = "sluice"

func newKey() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
}

// New starts a provider whose clock is now.
func New(t *testing.T, now func() time.Time) *Provider {
	t.Helper()
	p, _ := start(t, now, httptest.NewServer)
	return p
}

// NewTLS is New with TLS, and a certificate that no system trusts.
func NewTLS(t *testing.T, now func() time.Time) *Provider {
	t.Helper()
	p, s := start(t, now, httptest.NewTLSServer)
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // tests refuse its certificate
	sum := sha1.Sum(s.Certificate().Raw)
	p.Thumbprint = hex.EncodeToString(sum[:])
	return p
}

func start(
	t *testing.T, now func() time.Time, listen func(http.Handler) *httptest.Server,
) (*Provider, *httptest.Server) {
	t.Helper()
	p := &Provider{Now: now}
	mux := http.NewServeMux()
	s := listen(mux)
	t.Cleanup(s.Close)
	p.URL = s.URL
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.Described++
		m := Object{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/auth", "token_endpoint": p.URL + "/token",
			"jwks_uri":                              p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		}
		if p.UserInfo != nil {
			m["userinfo_endpoint"] = p.URL + "/userinfo"
		}
		if p.Metadata != nil {
			p.Metadata(m)
		}
		Reply(w, m)
	})
	mux.HandleFunc("/auth", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		back := url.Values{"state": {q.Get("state")}, "code": {q.Get("nonce")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.Fetched++
		if p.Keys != nil {
			p.Keys(w, r)
			return
		}
		Reply(w, Object{"keys": []any{Object{
			"kty": "RSA", "kid": "k1", "use": "sig", "alg": "RS256",
			"n": B64(Key.N.Bytes()), "e": B64(big.NewInt(int64(Key.E)).Bytes()),
		}}})
	})
	mux.HandleFunc("/token", func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		defer p.mu.Unlock()
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		id, secret, _ := r.BasicAuth()
		p.Asked, p.Basic = append(p.Asked, r.PostForm), append(p.Basic, id+":"+secret)
		if p.Answer != nil {
			p.Answer(w, r)
			return
		}
		Reply(w, Object{
			"access_token": "at", "token_type": "Bearer", "expires_in": 3600,
			"id_token": p.idToken(r.PostForm.Get("code")),
		})
	})
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer at" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		Reply(w, p.UserInfo)
	})
	return p, s
}

// Issue returns a token for a program. change alters its claims, and may be nil.
func (p *Provider) Issue(change func(claims Object)) string {
	c := Object{
		"iss": p.URL, "sub": "repo:acme/app:ref:refs/heads/main", "aud": Client,
		"exp": p.Now().Add(5 * time.Minute).Unix(), "iat": p.Now().Unix(),
	}
	if change != nil {
		change(c)
	}
	return JWT(Object{"alg": "RS256", "kid": "k1", "typ": "JWT"}, c, RS256(Key))
}

// idToken returns an ID token for a code, which is the nonce of the sign-in.
func (p *Provider) idToken(nonce string) string {
	c := Object{
		"iss": p.URL, "sub": "248289761001", "aud": Client, "exp": p.Now().Add(5 * time.Minute).Unix(),
		"iat": p.Now().Unix(), "nonce": nonce,
		"email": "ann@example.com", "email_verified": true, "groups": []string{"staff", "admins"},
		"amr": []string{"pwd", "otp"},
	}
	if p.Token != nil {
		p.Token(c)
	}
	header := Object{"alg": "RS256", "kid": "k1", "typ": "JWT"}
	if p.Sign != nil {
		return p.Sign(header, c)
	}
	return JWT(header, c, RS256(Key))
}

// Reply answers with JSON.
func Reply(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// B64 encodes bytes as in tokens.
func B64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// JWT returns a signed token.
func JWT(header, claims Object, sign func([]byte) []byte) string {
	h, _ := json.Marshal(header) // texts and numbers
	c, err := json.Marshal(claims)
	if err != nil {
		panic(err)
	}
	text := B64(h) + "." + B64(c)
	return text + "." + B64(sign([]byte(text)))
}

// RS256 signs.
func RS256(k *rsa.PrivateKey) func([]byte) []byte {
	return func(text []byte) []byte {
		sum := sha256.Sum256(text)
		s, err := rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		if err != nil {
			panic(err)
		}
		return s
	}
}

// HS256 signs with the public key as if that were a secret between the two.
func HS256(text []byte) []byte {
	der, err := x509.MarshalPKIXPublicKey(&Key.PublicKey)
	if err != nil {
		panic(err)
	}
	m := hmac.New(sha256.New, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	m.Write(text)
	return m.Sum(nil)
}
