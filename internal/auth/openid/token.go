package openid

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// Token is a program's proof of its identity. Nothing in it is trusted before [Keys.Verify] has accepted it.
type Token struct {
	Issuer   string
	Subject  string
	Audience []string // that it was issued for; of a token with an authorised party (azp) that one
	Expires  int64    // seconds of the epoch
	Issued   int64    // likewise
	Methods  []string // by which the subject has shown who it is: the claim amr
	Source   string   // the source identity that the provider wants, or empty

	// Tags are the tags that the provider wants the session to have, and Transitive the keys of those that the session
	// is to pass on.
	Tags       map[string]string
	Transitive []string

	raw string
}

// MaxToken is the maximum size of a token on AWS, in bytes.
const MaxToken = 20_000

// ErrNoToken reports that a text is not a usable token.
var ErrNoToken = errors.New("this is no signed token")

// MissingClaimError reports that a token lacks a required claim, or has it in another form.
type MissingClaimError struct{ Claim string }

func (e *MissingClaimError) Error() string { return "the token has no valid claim " + e.Claim }

// programAlgorithms are the algorithms with which the tokens of programs may be signed, as on AWS. Only a provider can
// sign with them.
var programAlgorithms = []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.ES256, oidc.ES384, oidc.ES512}

// The claims with which a provider describes a session.
const (
	claimTags   = "https://aws.amazon.com/tags"
	claimSource = "https://aws.amazon.com/source_identity"
)

// ParseToken parses a token. The error is ErrNoToken or a *MissingClaimError.
func ParseToken(raw string) (*Token, error) {
	if len(raw) > MaxToken {
		return nil, fmt.Errorf("%w: it has %d bytes", ErrNoToken, len(raw))
	}
	payload, err := unverified(raw)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", ErrNoToken, brief(err.Error()))
	}
	c, err := parseClaims(payload)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoToken, err)
	}
	t := &Token{raw: raw}
	return t, t.read(c)
}

// unverified returns the claims of a token: header, claims and signature, in base64, with dots between them.
func unverified(raw string) ([]byte, error) {
	part := strings.Split(raw, ".")
	if len(part) != 3 {
		return nil, fmt.Errorf("it has %d parts, not 3", len(part))
	}
	var decoded [3][]byte
	for i, text := range part {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(text); err != nil {
			return nil, err
		}
	}
	var header struct {
		Algorithm string `json:"alg"`
	}
	if err := json.Unmarshal(decoded[0], &header); err != nil {
		return nil, err
	}
	if !slices.Contains(programAlgorithms, header.Algorithm) {
		return nil, fmt.Errorf("it is signed by %q", brief(header.Algorithm))
	}
	return decoded[1], nil
}

func (t *Token) read(c claims) error {
	for claim, to := range map[string]*string{"iss": &t.Issuer, "sub": &t.Subject} {
		if *to, _ = c[claim].(string); *to == "" || len(*to) > maxSubject {
			return &MissingClaimError{claim}
		}
	}
	for claim, to := range map[string]*int64{"exp": &t.Expires, "iat": &t.Issued} {
		n, _ := c[claim].(json.Number)
		at, err := n.Int64()
		if err != nil || at < 0 || at > math.MaxInt32*1000 {
			return &MissingClaimError{claim}
		}
		*to = at
	}
	t.Audience = texts(c["aud"])
	if party, ok := c["azp"]; ok {
		t.Audience = texts(party)
	}
	if len(t.Audience) == 0 || len(t.Audience) > maxMethods {
		return &MissingClaimError{"aud"}
	}
	t.Methods = texts(c["amr"])
	t.Methods = t.Methods[:min(len(t.Methods), maxMethods)]
	t.Source, _ = c[claimSource].(string)
	return t.readTags(c)
}

// readTags reads the tags of the session, which are in one claim or, flattened, in two.
func (t *Token) readTags(c claims) error {
	wanted, keys := c[claimTags+"/principal_tags"], c[claimTags+"/transitive_tag_keys"]
	if both, ok := c[claimTags].(map[string]any); ok {
		wanted, keys = both["principal_tags"], both["transitive_tag_keys"]
	}
	tags, ok := wanted.(map[string]any)
	if !ok && wanted != nil {
		return &MissingClaimError{claimTags}
	}
	for key, value := range tags {
		values := texts(value)
		if len(values) != 1 {
			return &MissingClaimError{claimTags}
		}
		if t.Tags == nil {
			t.Tags = make(map[string]string)
		}
		t.Tags[key] = values[0]
	}
	t.Transitive = texts(keys)
	slices.Sort(t.Transitive)
	return nil
}
