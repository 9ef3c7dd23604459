package access

import "github.com/sluicemq/sluice/internal/aws/policy"

// Explain says how Decide would decide about a request of another caller than the one that makes it, and returns the
// request that the policies would be asked. It returns false if the policy of the resource cannot be read, which
// refuses everything but what the owner's root does to repair it.
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
