package openid

import (
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
)

// Secret is kept by the browser alone, from the beginning of a sign-in to its end.
type Secret string

const secretSize = 32

// NewSecret returns a secret of 256 random bits.
func NewSecret() Secret {
	b := make([]byte, secretSize)
	rand.Read(b)
	return Secret(base64.RawURLEncoding.EncodeToString(b))
}

// Valid reports whether s has the form of a result of NewSecret.
func (s Secret) Valid() bool {
	b, err := base64.RawURLEncoding.Strict().DecodeString(string(s))
	return err == nil && len(b) == secretSize
}

// derive returns a value that does not reveal the secret, nor the values for other purposes. It has 43 characters, as
// many as a PKCE verifier must have.
func (s Secret) derive(purpose string) string {
	key, err := hkdf.Key(sha256.New, []byte(s), nil, "sluice openid "+purpose, secretSize)
	if err != nil {
		panic(err) // only for lengths that cannot be derived
	}
	return base64.RawURLEncoding.EncodeToString(key)
}

// State returns the value that the provider sends back, which identifies the browser that has begun the sign-in.
func (s Secret) State() string { return s.derive("state") }

func (s Secret) nonce() string    { return s.derive("nonce") }
func (s Secret) verifier() string { return s.derive("verifier") }

// Began reports whether a state belongs to the browser with this secret.
func (s Secret) Began(state string) bool {
	return s.Valid() && subtle.ConstantTimeCompare([]byte(s.State()), []byte(state)) == 1
}
