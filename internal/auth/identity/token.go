package identity

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Temporary keys are not stored. Their id authenticates itself, the secret is derived from the id, and the session
// token contains everything else, encrypted.

// temporaryPrefix begins the ids of temporary keys.
const temporaryPrefix = "ASIA"

// The 16 characters behind the prefix are 50 random bits and 30 of a MAC over them, which detects invented ids before
// any work is spent on them.
const (
	drawnLetters = 10
	macLetters   = 6
)

// IsTemporary reports whether an access key id belongs to a temporary key.
func IsTemporary(keyID string) bool { return strings.HasPrefix(keyID, temporaryPrefix) }

// TemporarySecret returns the secret of a temporary key, or false if the id was not issued here. The permissions of the
// key are only in the token.
func (v *Vault) TemporarySecret(keyID string) (string, bool) {
	id, ok := strings.CutPrefix(keyID, temporaryPrefix)
	if !ok || len(id) != drawnLetters+macLetters ||
		!hmac.Equal([]byte(v.checkLetters(id[:drawnLetters])), []byte(id[drawnLetters:])) {
		return "", false
	}
	mac := hmac.New(sha256.New, v.keyValue)
	mac.Write([]byte(keyID))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:30]), true
}

func (v *Vault) checkLetters(drawn string) string {
	mac := hmac.New(sha256.New, v.keyID)
	mac.Write([]byte(drawn))
	return letters.EncodeToString(mac.Sum(nil))[:macLetters]
}

// Temporary is a temporary key.
type Temporary struct {
	Credential
	Token string
}

// ticket is the content of a session token. The first encrypted byte is the version, 1; a reader refuses others.
type ticket struct {
	Key     string
	Kind    policy.CallerKind
	Account string
	Name    string `json:",omitempty"` // of the session, or of the federated user
	Session *Session
}

const (
	tokenVersion = 1
	tokenPurpose = "session token"
	// maxToken is the maximum size of a request's token that is decrypted.
	maxToken = 16 << 10
)

// MaxToken is the maximum length of a session token in characters. Each request of the session carries it in a header.
const MaxToken = 4096

// TokenTooLongError reports that a session's policies and tags do not fit into its token.
type TokenTooLongError struct{ Length int }

func (e *TokenTooLongError) Error() string {
	return fmt.Sprintf("the session token has %d characters; at most %d are allowed", e.Length, MaxToken)
}

// Issue issues keys for a session. name is the name of a role's session or of a federated user, and empty for users and
// roots. If policies and tags of the session are too long, the error is a *TokenTooLongError.
func (v *Vault) Issue(kind policy.CallerKind, account, name string, s *Session) (Temporary, error) {
	return v.IssuePadded(kind, account, name, s, 0)
}

// IssuePadded is Issue with a token of at least that many characters, up to MaxToken.
func (v *Vault) IssuePadded(kind policy.CallerKind, account, name string, s *Session, least int) (Temporary, error) {
	keyID, secret := v.newTemporary()
	content, err := json.Marshal(ticket{Key: keyID, Kind: kind, Account: account, Name: name, Session: s})
	if err != nil {
		panic(err) // strings and times only
	}
	content = append([]byte{tokenVersion}, content...)
	if short := base64.StdEncoding.DecodedLen(least+3) - len(content) - v.tokens.Overhead(); short > 0 {
		content = append(content, bytes.Repeat([]byte{' '}, short)...) // JSON may end in white space
	}
	sealed := v.tokens.Seal(nil, nil, content, []byte(tokenPurpose))
	t := Temporary{Token: base64.StdEncoding.EncodeToString(sealed)}
	t.Secret = secret
	t.AccessKeyID = keyID
	if len(t.Token) > MaxToken {
		return Temporary{}, &TokenTooLongError{len(t.Token)}
	}
	return t, nil
}

// newTemporary generates the id of a temporary key, and returns it with its secret.
func (v *Vault) newTemporary() (keyID, secret string) {
	for {
		drawn := randomLetters(drawnLetters)
		keyID = temporaryPrefix + drawn + v.checkLetters(drawn)
		if secret, _ = v.TemporarySecret(keyID); !beginsLikeOption(secret) {
			return keyID, secret
		}
	}
}

// ErrToken refuses a session token that was not issued here, or not for the accompanying key.
var ErrToken = errors.New("the session token is invalid")

// Redeem returns the caller that a session token represents, without the ARN, UserID and UserName of users and roles,
// which may have been renamed meanwhile: the directory completes it. It does not check whether the session has ended.
// Name is the argument of Issue.
func (v *Vault) Redeem(keyID, token string) (id Identity, name string, err error) {
	if len(token) > maxToken {
		return Identity{}, "", ErrToken
	}
	sealed, err := base64.StdEncoding.Strict().DecodeString(token)
	if err != nil {
		return Identity{}, "", ErrToken
	}
	content, err := v.tokens.Open(nil, nil, sealed, []byte(tokenPurpose))
	if err != nil || len(content) == 0 || content[0] != tokenVersion {
		return Identity{}, "", ErrToken
	}
	var t ticket
	if err := json.Unmarshal(content[1:], &t); err != nil || t.Key != keyID || t.Session == nil {
		return Identity{}, "", ErrToken
	}
	id = Identity{
		Caller: policy.Caller{
			Kind: t.Kind, Account: t.Account, Issued: t.Session.Issued, MFA: t.Session.MFA, Tags: t.Session.Tags,
			SourceIdentity: t.Session.SourceIdentity, Provider: t.Session.Provider,
		},
		AccessKeyID: keyID, Session: t.Session,
	}
	if t.Kind == policy.AssumedRole || t.Kind == policy.FederatedUser {
		id.Issuer, id.IssuerID = t.Session.Issuer, t.Session.IssuerID
	}
	return id, t.Name, nil
}
