// Package identity says who a request comes from: whose an access key is, and
// what a session token stands for. It decides nothing, and it keeps the key
// under which secrets are stored and tokens are made.
package identity

import (
	"regexp"
	"time"
)

// Kind is what kind of caller an Identity is.
type Kind uint8

// The kinds of callers.
const (
	Anonymous     Kind = iota
	Account            // the account itself: its root
	User               // a user, with its own keys or with those of GetSessionToken
	AssumedRole        // a session of a role
	FederatedUser      // somebody to whom a user has given keys by GetFederationToken
)

// Identity is an authenticated caller. The zero Identity is nobody.
type Identity struct {
	Kind    Kind
	Account string // 12 digits
	// ARN, as GetCallerIdentity shows it:
	//	arn:aws:iam::111122223333:root
	//	arn:aws:iam::111122223333:user/path/bob
	//	arn:aws:sts::111122223333:assumed-role/worker/session
	//	arn:aws:sts::111122223333:federated-user/jean
	ARN string
	// UserID is what SenderId shows: the account's number for its root, AIDA…
	// of a user, AROA…:session, account:name of a federated user.
	UserID      string
	UserName    string // of a User
	AccessKeyID string
	Root        bool     // the account itself, as opposed to one of its users
	Session     *Session // of temporary keys; nil with others
}

// Session is what temporary keys add to an identity. It is not to be changed.
type Session struct {
	// Issuer is the ARN of whom the session acts for: the user or root who has
	// asked for the keys, or the role. IssuerID is its AIDA… or AROA…, or of a
	// root the account's number.
	Issuer   string
	IssuerID string
	Issued   time.Time
	Expires  time.Time
	// Policies are the documents that were given along, PolicyARNs the managed
	// policies that were named. Together they limit what the session may do.
	Policies   []string          `json:",omitempty"`
	PolicyARNs []string          `json:",omitempty"`
	Tags       map[string]string `json:",omitempty"`
}

// Limited reports whether the session was made with policies.
func (s *Session) Limited() bool { return len(s.Policies)+len(s.PolicyARNs) > 0 }

// Root returns the identity of an account.
func Root(account, accessKeyID string) Identity {
	return Identity{
		Kind: Account, Account: account, ARN: RootARN(account), UserID: account,
		AccessKeyID: accessKeyID, Root: true,
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
