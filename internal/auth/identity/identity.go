// Package identity identifies the sender of a request: the owner of an access key, and the session of a session token.
// It makes no decisions. It also holds the key under which secrets are stored and tokens are issued.
package identity

import (
	"regexp"
	"strings"
	"time"

	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Identity is an authenticated caller: its name in policies, and the key that signed the request. The zero Identity is
// anonymous.
type Identity struct {
	policy.Caller
	AccessKeyID string
	Session     *Session // of temporary keys; nil with others
}

// IsRoot reports whether the caller is an account itself, as opposed to one of its
// users, with its own keys or with those of GetSessionToken.
func (id *Identity) IsRoot() bool { return id.Kind == policy.Account }

// NoIAM reports whether the caller cannot call IAM, even if policies allow it: its keys come from GetFederationToken,
// from GetSessionToken without a second factor, or from a session of the console that such keys have begun. Otherwise a
// session could create keys that outlive it, and that its policies do not limit.
func (id *Identity) NoIAM() bool {
	s := id.Session
	switch {
	case s == nil || id.Kind == policy.AssumedRole:
		return false
	case s.Console != "":
		return s.NoIAM
	}
	return id.Kind == policy.FederatedUser || s.MFA.IsZero()
}

// SessionName returns the name of a role's session or of a federated user, as passed to Vault.Issue.
func (id *Identity) SessionName() string { return id.ARN[strings.LastIndexByte(id.ARN, '/')+1:] }

// Session is the part of an identity that temporary keys add. It is immutable.
type Session struct {
	// Issuer is the ARN of the entity that the session acts for: the user or root who has asked for the keys, or the
	// role. IssuerID is its AIDA… or AROA… id, or for a root the account's number.
	Issuer   string
	IssuerID string
	// RootKey is the key of the root who has asked for the keys. The session ends with it: the account may be deleted,
	// and its number given to others.
	RootKey string `json:",omitempty"`
	Issued  time.Time
	Expires time.Time
	Terms
	// Console is the console session that these keys belong to, and during which they are valid; empty for other keys.
	// MFA is when a second factor was presented at its beginning; zero if none was.
	Console string    `json:",omitempty"`
	MFA     time.Time `json:",omitzero"`
	// NoIAM means that a session of the console was begun with keys that cannot call IAM; see Identity.NoIAM.
	NoIAM bool `json:",omitempty"`
}

// Terms are the conditions under which a session was issued. A console session that was begun with its keys has the
// same terms.
type Terms struct {
	// Policies are the documents that were passed, PolicyARNs the managed policies that were named. Together they limit
	// the permissions of the session.
	Policies   []string          `json:",omitempty"`
	PolicyARNs []string          `json:",omitempty"`
	Tags       map[string]string `json:",omitempty"`
	// Transitive are the keys of the tags that a session inherits if this one begins it by assuming a role.
	// SourceIdentity is the person behind all of them. Provider is the ARN of the identity provider whose token began
	// the session.
	Transitive     []string `json:",omitempty"`
	SourceIdentity string   `json:",omitempty"`
	Provider       string   `json:",omitempty"`
}

// Limited reports whether the session was issued with policies.
func (s *Session) Limited() bool { return len(s.Policies)+len(s.PolicyARNs) > 0 }

// Root returns the identity of an account.
func Root(account, accessKeyID string) Identity {
	return Identity{
		Caller:      policy.Caller{Kind: policy.Account, Account: account, ARN: RootARN(account), UserID: account},
		AccessKeyID: accessKeyID,
	}
}

// RootARN returns the ARN of an account's root.
func RootARN(account string) string { return "arn:aws:iam::" + account + ":root" }

// IsRegion reports whether s can be the name of a region: 1 to 63 lower-case letters,
// digits and hyphens, with no hyphen at either end.
func IsRegion(s string) bool { return regionPattern.MatchString(s) }

var regionPattern = regexp.MustCompile(`^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$`)

// IsAccount reports whether s is an account number: 12 digits.
func IsAccount(s string) bool {
	if len(s) != 12 {
		return false
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}
