package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"time"

	"github.com/sluicemq/sluice/internal/auth/directory"
	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Lifetimes and maximum numbers of sessions.
const (
	Longest     = 12 * time.Hour   // of a session
	KeysLast    = 15 * time.Minute // of the keys that a session gets
	LinksLast   = 10 * time.Minute
	MaxSessions = 50 // of one who signs in; the oldest makes room
	MaxLinks    = 20 // likewise
)

// The errors with which a browser is refused.
var (
	// ErrNoLink reports that there is no such link: it was used, has expired, or never existed.
	ErrNoLink = errors.New("there is no such link")
	// ErrUsed reports that a signed request has already begun a session.
	ErrUsed = errors.New("this request has begun a session already")
	// ErrNoPrincipal reports that the principal of the session no longer exists.
	ErrNoPrincipal = errors.New("there is no such user, role, account or key any more")
	// ErrSessionKeys reports an attempt to begin a session with keys of a session, which could be repeated endlessly.
	ErrSessionKeys = errors.New("keys of a session cannot begin another one")
)

// Grant is the identity behind a session, or behind a link to one.
type Grant struct {
	Kind     policy.CallerKind
	Account  string
	Name     string `json:",omitempty"` // of a role's session or a federated user
	Issuer   string // as in identity.Session
	IssuerID string // likewise
	identity.Terms
	KeyID      string      `json:",omitempty"` // the long-term key that began it
	Until      time.Time   // latest end
	MFA        time.Time   // when a second factor was shown; zero if none was
	Issued     time.Time   `json:",omitzero"`  // when the temporary keys that began it were issued; zero for others
	NoIAM      bool        `json:",omitempty"` // as in identity.Session
	Federation *Federation `json:",omitempty"` // nil: a local identity
}

// Federation describes a person whom an identity provider vouches for, and whose role follows from that.
type Federation struct {
	Issuer  string // the provider
	Subject string // the person's id there
	Group   string // the group with the role
	Trust   string // the hash of the policy that grants the role
}

// Lifetime returns how long a session with the limit most lasts; 0 sets no limit of its own.
func Lifetime(most time.Duration) time.Duration {
	if most == 0 {
		return Longest
	}
	return min(most, Longest)
}

// Federated returns a grant for a person whom an identity provider vouches for, as a session of a role under their
// name.
func Federated(role *directory.Entity, name string, f Federation, now time.Time) Grant {
	f.Trust = hash(role.Trust)
	return Grant{
		Kind: policy.AssumedRole, Account: role.Account, Name: name, Issuer: role.ARN(), IssuerID: role.ID,
		Until:      now.Add(min(Lifetime(role.MaxSignIn), role.MaxSession)),
		Federation: &f,
	}
}

// GrantOf returns a grant for a caller who has signed a request.
func GrantOf(id identity.Identity, now time.Time) (Grant, error) {
	g := Grant{
		Kind: id.Kind, Account: id.Account, Issuer: id.ARN, IssuerID: id.UserID, KeyID: id.AccessKeyID,
		Until: now.Add(Longest),
	}
	s := id.Session
	if s == nil {
		return g, nil
	}
	if s.Console != "" {
		return Grant{}, ErrSessionKeys
	}
	g.KeyID = s.RootKey
	g.Issuer, g.IssuerID, g.Terms = s.Issuer, s.IssuerID, s.Terms
	g.MFA, g.Issued, g.NoIAM = s.MFA, s.Issued, id.NoIAM()
	if id.Kind == policy.AssumedRole || id.Kind == policy.FederatedUser {
		g.Name = id.SessionName()
	}
	if s.Expires.Before(g.Until) {
		g.Until = s.Expires
	}
	return g, nil
}

// Subject returns the person's name at an identity provider; empty for others.
func (g *Grant) Subject() string {
	if g.Federation == nil {
		return ""
	}
	return g.Federation.Subject
}

// identity returns the identity of the grant, without the directory's facts.
func (g *Grant) identity() identity.Identity {
	id := identity.Identity{
		Caller: policy.Caller{
			Kind: g.Kind, Account: g.Account, Tags: g.Tags, SourceIdentity: g.SourceIdentity, Provider: g.Provider,
		},
		Session: &identity.Session{Issuer: g.Issuer, IssuerID: g.IssuerID, Terms: g.Terms},
	}
	if g.Kind == policy.AssumedRole || g.Kind == policy.FederatedUser {
		id.Issuer, id.IssuerID = g.Issuer, g.IssuerID
	}
	return id
}

// Method is a way to sign in.
type Method string

// The ways to sign in.
const (
	ByLink     Method = "link"
	ByKeys     Method = "keys" // with a signed request
	ByPassword Method = "password"
	ByOpenID   Method = "oidc" // with an OpenID Connect provider
)

// Session is a browser in which a person has signed in. It is immutable.
type Session struct {
	ID string // the hash of its token
	Grant
	Method    Method
	Created   time.Time
	Used      time.Time // when it last got keys
	SourceIP  string
	UserAgent string
}

// issued returns the issue time of the session's keys for policies. All keys have the time of the session's beginning,
// or of the temporary keys that began it. So a policy that refuses sessions from before a time also refuses keys that
// they get after it.
func (n *Session) issued() time.Time {
	if !n.Issued.IsZero() {
		return n.Issued
	}
	return n.Created
}

// Link is a link that begins a session.
type Link struct {
	ID string // the hash of its token
	Grant
	Expires time.Time
}

// proof is a request, signed or answered by a provider, that has begun a session.
type proof struct {
	ID      string
	Expires time.Time
}

// Arrival describes how a person signs in.
type Arrival struct {
	Method    Method
	SourceIP  string
	UserAgent string
}

// maxAgent is how much of a browser's name is stored.
const maxAgent = 256

// newToken returns a token of 256 random bits.
func newToken() string {
	b := make([]byte, 32)
	rand.Read(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// hash returns the hash under which a token is stored.
func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:16])
}
