package policy

import (
	"net/netip"
	"strings"
	"time"
)

// CallerKind is what kind of principal a caller is.
type CallerKind uint8

const (
	Anonymous     CallerKind = iota // has not signed
	Account                         // the account itself: its root
	User                            // an IAM user, with keys of its own or GetSessionToken's
	AssumedRole                     // a session of a role
	FederatedUser                   // has its keys from GetFederationToken
	Service                         // another service of ours, that acts by itself
	WebIdentity                     // a person whom an identity provider vouches for, and who wants to assume a role
)

// String returns k as aws:principaltype shows it.
func (k CallerKind) String() string {
	return [...]string{"Anonymous", "Account", "User", "AssumedRole", "FederatedUser", "Service", "WebIdentityUser"}[k]
}

// Caller is the caller of a request. The zero Caller is anonymous.
type Caller struct {
	Kind    CallerKind
	Account string // 12 digits; empty for Anonymous, Service and WebIdentity
	// ARN, as GetCallerIdentity shows it:
	//	arn:aws:iam::111122223333:root
	//	arn:aws:iam::111122223333:user/path/bob
	//	arn:aws:sts::111122223333:assumed-role/worker/session
	//	arn:aws:sts::111122223333:federated-user/jean
	ARN      string
	UserID   string // AIDA… of a user, AROA…:session, account:name of a federated user, the account of its root
	UserName string // of a User
	// Issuer is the ARN of the entity that a session acts for: the role of an AssumedRole,
	// the user (or root) who has made the FederatedUser; IssuerID its AROA… or
	// AIDA….
	Issuer   string
	IssuerID string
	Service  string // of a Service: sns.amazonaws.com
	// Provider is the identity provider that vouches for a WebIdentity, or has for the one who began the session:
	//	arn:aws:iam::111122223333:oidc-provider/login.example.com
	Provider       string
	SourceIdentity string            // that was set when the session, or the first of a chain of sessions, was made
	Tags           map[string]string // of the principal and its session

	Issued time.Time // when temporary keys were made; zero for others
	MFA    time.Time // when the caller has shown a second factor; zero if not
}

// signed reports whether the caller belongs to an account.
func (c *Caller) signed() bool {
	return c.Kind != Anonymous && c.Kind != Service && c.Kind != WebIdentity
}

// Facts are the values of condition keys of a request, except those of its caller. A missing fact is a key that the
// request does not have.
type Facts struct {
	Time            time.Time  // of the request's arrival
	SourceIP        netip.Addr // the client's; a Service has none
	SecureTransport bool
	UserAgent       string
	Region          string
	SourceARN       string // the topic or alarm that a Service acts for,
	SourceAccount   string // and whose it is

	RequestTags  map[string]string // that the request wants to set
	TagKeys      []string          // that it wants to remove; aws:TagKeys has those of RequestTags as well
	ResourceTags map[string]string // that the resource has

	// Lookup returns the value of a key, or false. name is in lower case. Lookup
	// is called before all other sources, so that a simulation can state any key
	// and a service can add keys of its own. It may be nil.
	Lookup func(name string) (Value, bool)
}

// Request is a question: may Caller do Action on Resource, under these
// policies? Decide does not change it and keeps nothing of it.
type Request struct {
	Caller   Caller
	Action   string // sqs:SendMessage; a batch asks for the action of its entries
	Resource string // an ARN
	Owner    string // the account that Resource belongs to
	Rules    *Rules // of the service; nil if it has none
	Facts    Facts

	// Policies, each parsed for the use that it is put to here. A Boundary or
	// Session that is not there takes nothing away, except that a FederatedUser
	// without Session has only what the resource's policy gives it by name.
	Identity       []*Policy // ForIdentity: the user's (and its groups') or the role's
	Boundary       *Policy   // ForIdentity: the most that Identity can allow
	Session        []*Policy // ForSession: given when the session was made
	ResourcePolicy *Policy   // ForResource or ForTrust
}

// Rules are a service's additions to the language. Actions are written with their prefix, sqs:SendMessage, and exactly
// as requests write them.
type Rules struct {
	Vendor    string   // the prefix, sqs
	Actions   []string // all that exist
	OwnerOnly []string // those that another account cannot be given
	Unscoped  []string // those that are about no resource: only Resource "*" covers them
	// Repair are the actions that the owner's root may always take, even if the resource's policy denies them, so that
	// no policy can lock its owner out.
	Repair []string
	// Limits apply to the policies of its resources; the zero Limits are the limits of a queue's policy.
	Limits Limits
	// LowerCase is whether refusals write actions in lower case, as SQS does.
	LowerCase bool
	// Terse is whether refusals leave out the resource *.
	Terse bool
}

func (r *Rules) ownerOnly(action string) bool { return r != nil && contains(r.OwnerOnly, action) }
func (r *Rules) unscoped(action string) bool  { return r != nil && contains(r.Unscoped, action) }
func (r *Rules) repairs(action string) bool   { return r != nil && contains(r.Repair, action) }

func contains(list []string, action string) bool {
	for _, other := range list {
		if len(other) == len(action) && strings.EqualFold(other, action) {
			return true
		}
	}
	return false
}
