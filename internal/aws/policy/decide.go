package policy

// Decision is the answer to a Request. The zero Decision is a refusal.
type Decision struct {
	Result Result
	// By is which policies have decided: those with the statement that allowed
	// or denied, or else those that would have had to allow.
	By        Source
	Policy    *Policy // with the statement; nil if there is none
	Statement int     // its index in Policy
}

// Allowed reports whether the request may go ahead.
func (d Decision) Allowed() bool { return d.Result == Allowed }

// Result is what the policies together say. Refused is the guide's default
// deny, which an Allow would have overridden.
type Result uint8

const (
	Refused Result = iota
	Allowed
	ExplicitlyDenied
)

// String returns r as IAM's simulator shows it.
func (r Result) String() string {
	return [...]string{"implicitDeny", "allowed", "explicitDeny"}[r]
}

// Source is where a policy comes from.
type Source uint8

const (
	NoSource   Source = iota
	ByOwner           // the account owns the resource
	ByResource        // the resource's policy
	ByIdentity        // the caller's policies
	ByBoundary        // the permissions boundary
	BySession         // the session's policies
)

func (s Source) String() string {
	return [...]string{
		"none", "owner", "resource-based policy", "identity-based policy", "permissions boundary", "session policy",
	}[s]
}

// Decide answers a request. It is safe for concurrent use, and an allowed
// request costs no memory.
func Decide(r *Request) Decision {
	e := newEvaluation(r)
	return e.decide()
}

// evaluation is one request on its way through the policies.
type evaluation struct {
	request  *Request
	resource arn  // of the request, once it is cut
	unscoped bool // the action is about no resource
	trust    bool // the resource's policy says who may become it
	home     bool // the caller belongs to the account that owns the resource
	owner    bool // the caller is that account, which needs no Allow

	unresolved bool // a variable had no value since this was last reset
	// unknown is set if a comparison was not made since this was last reset: a
	// value is too long for it, or there are no steps left. A Deny then counts as
	// matching what was compared, an Allow does not.
	unknown bool
	steps   int      // left
	tagKeys []string // the value of aws:TagKeys, once it has been read
}

// newEvaluation panics if a policy is put to a use that it was not parsed for:
// it would be read without the elements that limit it.
func newEvaluation(r *Request) evaluation {
	for _, p := range r.Identity {
		p.only(ForIdentity, ForIdentity)
	}
	for _, p := range r.Session {
		p.only(ForSession, ForSession)
	}
	r.Boundary.only(ForIdentity, ForIdentity)
	r.ResourcePolicy.only(ForResource, ForTrust)
	e := evaluation{request: r, unscoped: r.Rules.unscoped(r.Action), steps: maxSteps}
	e.trust = r.ResourcePolicy != nil && r.ResourcePolicy.use == ForTrust
	e.home = r.Caller.signed() && r.Caller.Account == r.Owner && r.Owner != ""
	e.owner = e.home && r.Caller.Kind == Account && !e.trust && r.Boundary == nil && len(r.Session) == 0
	return e
}

func (p *Policy) only(one, other Use) {
	if p != nil && p.use != one && p.use != other {
		panic("policy: a " + p.use.String() + " policy is evaluated as another")
	}
}

// verdict is the result of the policies from one source: a Deny, or the closest grant of an Allow.
type verdict struct {
	denied    bool
	grant     grant
	policy    *Policy
	statement int
}

func (v verdict) decision(result Result, by Source) Decision {
	return Decision{Result: result, By: by, Policy: v.policy, Statement: v.statement}
}

// decide brings the sources together (IAM User Guide, "Policy evaluation
// logic"): a Deny wins, then one of the policies has to allow.
func (e *evaluation) decide() Decision {
	r, c := e.request, &e.request.Caller
	if e.rule() != noRule {
		if e.owner {
			return Decision{Result: Allowed, By: ByOwner}
		}
		return Decision{By: ByResource}
	}

	var own, boundary, session verdict
	resource := e.one(r.ResourcePolicy)
	if resource.denied {
		return resource.decision(ExplicitlyDenied, ByResource)
	}
	if !c.signed() {
		least := publicGrant
		if c.Kind == WebIdentity { // the principal * of a trust policy does not admit identity providers
			least = directGrant
		}
		if resource.grant >= least {
			return resource.decision(Allowed, ByResource)
		}
		return Decision{By: ByResource}
	}
	if own = e.any(r.Identity); own.denied {
		return own.decision(ExplicitlyDenied, ByIdentity)
	}
	if boundary = e.one(r.Boundary); boundary.denied {
		return boundary.decision(ExplicitlyDenied, ByBoundary)
	}
	if session = e.any(r.Session); session.denied {
		return session.decision(ExplicitlyDenied, BySession)
	}

	if e.owner {
		return Decision{Result: Allowed, By: ByOwner}
	}

	// The verdict of the caller's own side, and its limits.
	mine := Decision{By: ByIdentity}
	switch {
	case c.Kind == Account || c.Kind == FederatedUser && c.Issuer == "arn:aws:iam::"+c.Account+":root":
		mine = Decision{Result: Allowed, By: ByOwner}
	case own.grant != noGrant:
		mine = own.decision(Allowed, ByIdentity)
	}
	limit := NoSource
	if r.Boundary != nil && boundary.grant == noGrant {
		limit = ByBoundary
	} else if (len(r.Session) > 0 || c.Kind == FederatedUser) && session.grant == noGrant {
		limit = BySession
	}
	if e.home && resource.grant == publicGrant && limit == BySession && len(r.Session) == 0 {
		// An action that everyone may take needs no policy of the session's own.
		limit = NoSource
	}
	limited := func(d Decision) Decision {
		if d.Allowed() && limit != NoSource {
			return Decision{By: limit}
		}
		return d
	}

	theirs := resource.decision(Allowed, ByResource)
	switch {
	case e.home && resource.grant == directGrant:
		return theirs
	case e.home && resource.grant >= issuerGrant:
		return limited(theirs)
	case e.home && !e.trust:
		return limited(mine)
	case resource.grant == noGrant:
		return Decision{By: ByResource}
	case !mine.Allowed():
		return mine
	}
	return limited(theirs) // both sides agree
}

// limits reports whether the caller has policies that limit the permissions of others.
func (e *evaluation) limits() bool { return e.request.Boundary != nil || len(e.request.Session) > 0 }

// rule is one that decides a request beside the policies.
type rule string

const (
	noRule     rule = ""
	repairRule rule = "the owner's root may always do this, even if policies deny it"
	ownerRule  rule = "this action cannot be given to another account"
	rootRule   rule = "the root of an account cannot assume roles"
)

func (e *evaluation) rule() rule {
	switch r := e.request; {
	case e.owner && r.Rules.repairs(r.Action):
		return repairRule
	case !e.home && r.Rules.ownerOnly(r.Action):
		return ownerRule
	case e.trust && r.Caller.Kind == Account:
		return rootRule
	}
	return noRule
}

// one returns the verdict of a single policy.
func (e *evaluation) one(p *Policy) (v verdict) {
	e.add(&v, p)
	return v
}

// any returns the verdict of policies, one of which is enough to allow.
func (e *evaluation) any(policies []*Policy) (v verdict) {
	for _, p := range policies {
		if e.add(&v, p); v.denied {
			break
		}
	}
	return v
}

// add evaluates p into v, up to the first Deny.
func (e *evaluation) add(v *verdict, p *Policy) {
	if p == nil {
		return
	}
	for i := range p.statements {
		s := &p.statements[i]
		if s.effect == Allow && (e.owner || v.grant == directGrant) {
			continue
		}
		g, failed := e.match(p, s)
		switch {
		case failed.element != matched:
		case s.effect == Deny:
			*v = verdict{denied: true, policy: p, statement: i}
			return
		case g > v.grant:
			*v = verdict{grant: g, policy: p, statement: i}
		}
	}
}

// element is the part of a statement that a request did not match.
type element uint8

const (
	matched element = iota
	byAction
	byPrincipal
	byResource
	byCondition
)

// mismatch returns why a statement does not apply.
type mismatch struct {
	element    element
	unresolved bool  // a variable of NotResource has no value
	unknown    bool  // the element could not be compared
	condition  int32 // which of the statement's
}

// match reports whether a statement applies to the request and how closely it
// names the caller; in policies without principals it means the caller itself.
// Elements that cannot be compared decide only if all others match.
func (e *evaluation) match(p *Policy, s *statement) (grant, mismatch) {
	var unknown mismatch
	e.unknown = false
	if found := e.matchAction(s); e.unknown {
		unknown = mismatch{element: byAction, unknown: true}
	} else if found == s.notActions {
		return noGrant, mismatch{element: byAction}
	}
	g := directGrant
	if p.use == ForResource || p.use == ForTrust {
		if g = s.principals.covers(&e.request.Caller, s.effect); g == noGrant {
			return noGrant, mismatch{element: byPrincipal}
		}
	}
	if p.use != ForTrust {
		e.unknown = false
		if found := e.matchResource(s); e.unknown {
			unknown = mismatch{element: byResource, unknown: true}
		} else if !found {
			return noGrant, mismatch{element: byResource, unresolved: e.unresolved}
		}
	}
	for i := range s.conditions {
		e.unknown = false
		if met := s.conditions[i].met(e); e.unknown {
			unknown = mismatch{element: byCondition, condition: int32(i), unknown: true}
		} else if !met {
			return noGrant, mismatch{element: byCondition, condition: int32(i)}
		}
	}
	switch {
	case !unknown.unknown:
		return g, mismatch{}
	case s.effect == Deny:
		return g, mismatch{element: matched, unknown: true}
	}
	return noGrant, unknown
}

func (e *evaluation) matchAction(s *statement) bool {
	action := e.request.Action
	if len(action) > MaxFact || !e.spend(operandSteps*len(s.actions)) {
		e.unknown = true
		return false
	}
	for _, a := range s.actions {
		if a.matches(e, action) {
			return true
		}
	}
	return false
}

// matchResource is for both Resource and NotResource. A variable without a value is unknown: neither element allows
// anything by it.
func (e *evaluation) matchResource(s *statement) bool {
	e.unresolved = false
	if e.resource.n == 0 {
		e.resource = cutARN(e.request.Resource)
	}
	long := len(e.request.Resource) > MaxFact
	for i := range s.resources {
		a := &s.resources[i]
		if a.any() || !e.unscoped && !long && a.matches(e, &e.resource) {
			e.unknown = false // an unresolved one does not matter any more
			return !s.notResource
		}
	}
	if long && !e.unscoped {
		e.unknown = true
	}
	return s.notResource && (s.effect == Deny || !e.unresolved)
}
