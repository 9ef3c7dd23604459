package access

import (
	"fmt"

	"github.com/sluicemq/sluice/internal/auth/identity"
	"github.com/sluicemq/sluice/internal/aws/policy"
)

// Principal is a caller with all policies of its own account about it.
type Principal struct {
	Caller   policy.Caller
	Identity []*policy.Policy // of the user and its groups, or of the role
	Boundary *policy.Policy   // nil if there is none
	Session  []*policy.Policy // of the temporary keys
}

// Principals looks up the callers that are neither anonymous nor the root of an account.
type Principals interface {
	// Principal returns the current principal of an identity, or false if it no longer exists.
	Principal(id identity.Identity) (Principal, bool)
}

// Decider decides about requests. It is safe for concurrent use.
type Decider struct {
	principals Principals
	policies   cache
}

// New returns a Decider. Without principals, there are only the roots of
// accounts and anonymous callers.
func New(p Principals) *Decider { return &Decider{principals: p} }

// Request is a caller's request for permission.
type Request struct {
	Caller identity.Identity // the zero Identity is anonymous
	Rules  *policy.Rules     // of the service
	Action string            // sqs:SendMessage
	Owner  string            // the account that owns the resource
	Policy string            // of the resource; empty if it has none
	// PolicyIDs binds the users and roles that Policy names to the unique ids
	// that they had when it was set: a JSON object of ids by ARN, or empty.
	PolicyIDs string
	Shown     string // the resource in a refusal; empty: its ARN
	Details
}

// Details are facts that only some decisions need, and that are computed only for those.
type Details interface {
	ARN() string         // of the resource
	Facts() policy.Facts // of the request
}

// Denial is the reason why a request is refused.
type Denial struct {
	decision policy.Decision
	message  string
}

// Error returns the refusal in AWS's words.
func (d *Denial) Error() string { return d.message }

// Explicit reports whether a policy denies the request, as opposed to none allowing it.
func (d *Denial) Explicit() bool { return d.decision.Result == policy.ExplicitlyDenied }

// Reason names the policies that have decided, and the statement. It is for the operator; the caller must not learn as
// much.
func (d *Denial) Reason() string {
	if d.decision.Policy == nil {
		return "no " + d.decision.By.String() + " allows it"
	}
	st := d.decision.Policy.Statement(d.decision.Statement)
	if st.Sid != "" {
		return fmt.Sprintf("statement %q of the %s", st.Sid, d.decision.By)
	}
	return fmt.Sprintf("statement %d of the %s", st.Index+1, d.decision.By)
}

// NewDenial returns a denial in the given words, for a request that the caller of this function has decided itself.
func NewDenial(d policy.Decision, message string) *Denial {
	return &Denial{decision: d, message: message}
}

// Decide returns nil if the request may proceed, or a *Denial with the reason.
func (d *Decider) Decide(r *Request) error {
	owner := r.Caller.IsRoot() && r.Caller.Account == r.Owner && r.Owner != ""
	if owner && r.Policy == "" {
		return nil
	}
	resource, readable := d.resourcePolicy(r)
	if owner && !readable {
		return nil
	}
	q := policy.Request{
		Action: r.Action, Resource: r.ARN(), Owner: r.Owner, Rules: r.Rules, Facts: r.Facts(),
		ResourcePolicy: resource,
	}
	var decision policy.Decision
	if known := d.introduce(&q, r.Caller); known && readable {
		decision = policy.Decide(&q)
	} else if known {
		decision.By = policy.ByResource
	}
	if decision.Allowed() {
		return nil
	}
	if r.Shown != "" {
		q.Resource = r.Shown
	}
	return deny(decision, q)
}

// introduce sets the caller in q, and reports whether it is known.
func (d *Decider) introduce(q *policy.Request, id identity.Identity) bool {
	switch {
	case id.ARN == "" && id.Kind != policy.Service:
		return true
	case id.IsRoot(), id.Kind == policy.Service:
		q.Caller = id.Caller
		return true
	case d.principals != nil:
		if p, ok := d.principals.Principal(id); ok {
			q.Caller, q.Identity, q.Boundary, q.Session = p.Caller, p.Identity, p.Boundary, p.Session
			return true
		}
	}
	q.Caller = policy.Caller{Kind: policy.User, Account: id.Account, ARN: id.ARN} // for the text only
	return false
}

// deny words a refusal. An explicit denial would tell a stranger that the resource exists.
func deny(d policy.Decision, q policy.Request) *Denial {
	said := d
	if d.By == policy.ByResource && q.Caller.Account != q.Owner {
		said = policy.Decision{By: policy.ByResource}
	}
	return NewDenial(d, said.Message(&q))
}
