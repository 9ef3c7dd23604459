package service

import (
	"errors"
	"net/netip"
	"time"

	"github.com/sluicemq/sluice/internal/auth/access"
	"github.com/sluicemq/sluice/internal/aws/policy"
	"github.com/sluicemq/sluice/internal/aws/protocol"
)

// Authorizer decides whether callers may use one service. It is safe for concurrent use.
type Authorizer struct {
	access *access.Decider
	rules  *policy.Rules
	now    func() time.Time
}

// NewAuthorizer returns an Authorizer for the service with these rules. A nil decider knows only the roots of accounts
// and anonymous callers; a nil now is time.Now.
func NewAuthorizer(decider *access.Decider, rules *policy.Rules, now func() time.Time) *Authorizer {
	if decider == nil {
		decider = access.New(nil)
	}
	if now == nil {
		now = time.Now
	}
	return &Authorizer{access: decider, rules: rules, now: now}
}

// Now returns the time by the clock of policies.
func (a *Authorizer) Now() time.Time { return a.now() }

// Resource is the resource of a request. Its name is computed only if a policy must be evaluated.
type Resource interface{ ARN() string }

// ARN is the Resource of that name; "*" stands for operations without a resource.
type ARN string

// ARN returns a itself.
func (a ARN) ARN() string { return string(a) }

// Subject is the resource of a request, with the facts that policies can ask about it.
type Subject struct {
	Resource Resource
	Owner    string // the account that the resource belongs to; empty: the caller's own
	// Policy is the resource's own, PolicyIDs the unique ids of the users and roles that it names; see access.Request.
	Policy, PolicyIDs string

	Tags    map[string]string // that the resource has
	NewTags map[string]string // that the request sets
	TagKeys []string          // of tags that the request removes

	Shown string // the resource in a refusal; empty: its ARN

	// Lookup returns the value of a condition key that only this service has, by its name in lower case, or false. It
	// may be nil.
	Lookup func(name string) (policy.Value, bool)
}

// Authorize returns nil if the caller may take all of the actions, or the refusal in AWS's words. The refusal also
// holds the *access.Denial, which contains the reason, for the operator only.
func (a *Authorizer) Authorize(c *protocol.Call, s Subject, actions ...string) error {
	id := Caller(c)
	q := access.Request{
		Caller: id, Rules: a.rules, Owner: s.Owner, Policy: s.Policy, PolicyIDs: s.PolicyIDs,
		Shown: s.Shown, Details: &details{a, c, s},
	}
	if q.Owner == "" {
		q.Owner = id.Account
	}
	if c.About != nil && c.About.ARN == "" {
		if arn := s.Resource.ARN(); arn != "*" {
			c.About.ARN, c.About.Owner = arn, q.Owner
		}
	}
	for _, q.Action = range actions {
		if denial := a.access.Decide(&q); denial != nil {
			return Refusal(denial)
		}
	}
	return nil
}

// Forbidden returns the refusal if a policy denies the action explicitly. It is for operations that need no permission.
func (a *Authorizer) Forbidden(c *protocol.Call, s Subject, action string) error {
	err := a.Authorize(c, s, action)
	if denial, ok := errors.AsType[*access.Denial](err); ok && !denial.Explicit() {
		return nil
	}
	return err
}

// Refusal converts a denial to AWS's words, and keeps the denial for the operator.
func Refusal(denial error) error {
	return errors.Join(protocol.AccessDenied("%s", denial.Error()), denial)
}

// details computes the facts that only some decisions need.
type details struct {
	*Authorizer
	call    *protocol.Call
	subject Subject
}

// ARN implements access.Details.
func (d *details) ARN() string { return d.subject.Resource.ARN() }

// Facts implements access.Details.
func (d *details) Facts() policy.Facts { return d.Authorizer.Facts(d.call, &d.subject) }

// Facts returns the facts of a request for conditions, for a service that makes its own decision.
func (a *Authorizer) Facts(c *protocol.Call, s *Subject) policy.Facts {
	f := policy.Facts{
		Time: a.now(), SecureTransport: c.TLS, UserAgent: c.UserAgent, Region: c.Region,
		ResourceTags: s.Tags, RequestTags: s.NewTags, TagKeys: s.TagKeys, Lookup: s.Lookup,
	}
	f.SourceIP, _ = netip.ParseAddr(c.SourceIP) // without an address the fact is absent
	return f
}

// Denied is the answer to an anonymous caller whose request does not name a resource that its owner could have opened
// to everybody.
func Denied(c *protocol.Call) *protocol.Error {
	return protocol.AccessDenied("Access to the resource %s is denied.", Shorten(c.Scheme+"://"+c.Host+c.Path))
}
