package access

import "github.com/sluicemq/sluice/internal/aws/policy"

// Explain returns how Decide would decide about a request of a caller other than the present one, and the request
// against which the policies would be evaluated. It returns false if the policy of the resource cannot be read: then
// everything is refused except what the owner's root does to repair it.
func (d *Decider) Explain(r *Request, p Principal) (*policy.Request, policy.Explanation, bool) {
	resource, readable := d.resourcePolicy(r)
	if !readable {
		return nil, policy.Explanation{}, false
	}
	q := &policy.Request{
		Caller: p.Caller, Identity: p.Identity, Boundary: p.Boundary, Session: p.Session,
		Action: r.Action, Resource: r.ARN(), Owner: r.Owner, Rules: r.Rules, Facts: r.Facts(), ResourcePolicy: resource,
	}
	return q, policy.Explain(q), true
}

// resourcePolicy returns the policy of the resource, nil if it has none, and whether it is valid.
func (d *Decider) resourcePolicy(r *Request) (*policy.Policy, bool) {
	switch {
	case r.Policy == "":
		return nil, true
	case r.PolicyIDs != "":
		return d.policies.parseBound(r.Policy, r.PolicyIDs)
	}
	return d.policies.parse(r.Policy)
}
