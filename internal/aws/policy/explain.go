package policy

import (
	"cmp"
	"fmt"
	"strings"
)

// Message returns AWS's sentence with the caller, the action, the resource and the reason of a refusal.
func (d Decision) Message(r *Request) string {
	action := r.Action
	if r.Rules != nil && r.Rules.LowerCase {
		action = strings.ToLower(action)
	}
	who := r.Caller.ARN
	switch r.Caller.Kind {
	case Anonymous:
		who = "anonymous"
	case Service:
		who = r.Caller.Service
	case WebIdentity:
		who = r.Caller.Provider
	}
	text := fmt.Sprintf("User: %s is not authorized to perform: %s", who, action)
	if r.Rules == nil || !r.Rules.Terse || r.Resource != "*" {
		text += " on resource: " + r.Resource
	}
	switch article := "a"; {
	case d.By < ByResource || d.By == ByResource && r.ResourcePolicy != nil && r.ResourcePolicy.use == ForTrust:
		return text // trust policies are not explained in detail
	case d.Result == ExplicitlyDenied:
		if d.By == ByIdentity {
			article = "an"
		}
		return fmt.Sprintf("%s with an explicit deny in %s %s", text, article, d.By)
	}
	return fmt.Sprintf("%s because no %s allows the %s action", text, d.By, action)
}

// Explanation is a Decision with the contribution of each statement.
type Explanation struct {
	Decision
	Rule    string // what has decided beside the policies, in words; mostly empty
	Traces  []Trace
	Missing []string // condition keys of a statement that the request lacks, as written
}

// Trace is how one statement fared.
type Trace struct {
	Source    Source
	Policy    *Policy
	Statement Statement
	Matched   bool
	Element   string // that did not match: Action, NotAction, Principal and so on

	evaluation *evaluation
	grant      grant
	failed     mismatch
}

// Explain decides r and says how each statement contributed, also those that Decide need not look at. It costs at most
// as much as two decisions. A caller that needs many explanations in a row checks between them whether they are still
// wanted.
func Explain(r *Request) Explanation {
	e := newEvaluation(r)
	x := Explanation{Decision: e.decide(), Rule: string(e.rule())}
	e.steps = maxSteps
	asked := make(map[string]bool)
	for _, p := range r.Identity {
		x.add(&e, ByIdentity, p, asked)
	}
	x.add(&e, ByBoundary, r.Boundary, asked)
	for _, p := range r.Session {
		x.add(&e, BySession, p, asked)
	}
	x.add(&e, ByResource, r.ResourcePolicy, asked)
	return x
}

func (x *Explanation) add(e *evaluation, by Source, p *Policy, asked map[string]bool) {
	if p == nil {
		return
	}
	for i := range p.statements {
		s := &p.statements[i]
		g, failed := e.match(p, s)
		x.Traces = append(x.Traces, Trace{
			Source: by, Policy: p, Statement: p.Statement(i), Matched: failed.element == matched,
			Element:    s.element(failed.element),
			evaluation: e, grant: g, failed: failed,
		})
		if failed.element == byCondition || failed.element == matched {
			x.missing(e, s, asked)
		}
	}
}

// missing notes the keys of a statement's conditions that the request lacks, and in
// asked all that it was asked for.
func (x *Explanation) missing(e *evaluation, s *statement, asked map[string]bool) {
	var v Value
	for i := range s.conditions {
		k := &s.conditions[i].key
		if asked[k.name] {
			continue
		}
		asked[k.name] = true
		if !e.lookup(k, &v) {
			x.Missing = append(x.Missing, k.written)
		}
	}
}

// element returns the name of an element as the statement has it, and nothing for
// matched.
func (s *statement) element(which element) string {
	name, not := "", false
	switch which {
	case byAction:
		name, not = "Action", s.notActions
	case byPrincipal:
		name, not = "Principal", s.principals.not
	case byResource:
		name, not = "Resource", s.notResource
	case byCondition:
		name = "Condition"
	}
	if not {
		return "Not" + name
	}
	return name
}

// Reason puts into words why the statement applies or not.
func (t *Trace) Reason() string {
	e, s := t.evaluation, &t.Policy.statements[t.Statement.Index]
	r := e.request
	switch {
	case t.failed.unknown && t.Matched:
		return "what the request says is too long to be compared with, so the Deny applies"
	case t.failed.unknown:
		return "what the request says is too long to be compared with " + t.Element + ", so the Allow does not apply"
	}
	switch t.failed.element {
	case byAction:
		if s.notActions {
			return "NotAction excepts " + quote(r.Action)
		}
		return "Action does not name " + quote(r.Action)
	case byPrincipal:
		who := cmp.Or(r.Caller.ARN, r.Caller.Service, r.Caller.Provider, "anonymous")
		if s.principals.not {
			return "NotPrincipal excepts " + quote(who)
		}
		return "Principal does not name " + quote(who)
	case byResource:
		switch {
		case s.notResource && t.failed.unresolved:
			return "a variable of NotResource has no value in this request"
		case s.notResource:
			return "NotResource excepts " + quote(r.Resource)
		case e.unscoped:
			return `the action is about no resource, only Resource "*" covers it`
		}
		return "Resource does not cover " + quote(r.Resource)
	case byCondition:
		return e.describeCondition(&s.conditions[t.failed.condition])
	}
	reason := fmt.Sprintf("%s, %s and all conditions match", s.element(byAction), s.element(byResource))
	switch {
	case s.effect == Deny:
	case t.grant == accountGrant:
		reason += "; Principal names the caller's account, whose own policies have to agree"
	case t.grant == publicGrant && t.evaluation.limits():
		reason += "; Principal is everyone, so the caller's own boundary and session policies apply"
	case t.grant == issuerGrant:
		reason += "; Principal names the role or user behind the session, so the session's own limits apply"
	}
	return reason
}

func (e *evaluation) describeCondition(c *condition) string {
	const most = 10
	wants := make([]string, min(len(c.values), most))
	for i := range wants {
		wants[i] = quote(c.values[i].written)
		if !c.values[i].ok {
			wants[i] += " (which is not " + c.operator.family.wants() + ")"
		}
	}
	if n := len(c.values) - most; n > 0 {
		wants = append(wants, fmt.Sprintf("%d more values", n))
	}
	has := "the request has none"
	var v Value
	if e.lookup(&c.key, &v) {
		has = "the request has " + quote(v.String())
		if v.kind == listValue && c.quantity == theValue {
			has += ", a list, which only ForAllValues and ForAnyValue look into"
		}
	}
	return fmt.Sprintf(
		"%s %s is not met: it wants %s, %s", c.written, quote(c.key.written), strings.Join(wants, " or "), has,
	)
}

// String tells the decision and the way to it, a line for each statement.
func (x Explanation) String() string {
	var b strings.Builder
	b.WriteString(x.Result.String())
	switch {
	case x.Rule != "":
		b.WriteString(": " + x.Rule)
	case x.Policy != nil:
		fmt.Fprintf(&b, " by %s of the %s", x.Policy.title(x.Statement), x.By)
	case x.Result == Allowed:
		b.WriteString(": the account owns the resource")
	default:
		fmt.Fprintf(&b, ": no %s allows it", x.By)
	}
	b.WriteByte('\n')
	for i := range x.Traces {
		t := &x.Traces[i]
		verb := "does not apply"
		if t.Matched {
			verb = "applies"
		}
		title, st := t.Policy.title(t.Statement.Index), t.Statement
		fmt.Fprintf(&b, "  %s, %s (%s, line %d) %s: %s\n", t.Source, title, st.Effect, st.Start.Line, verb, t.Reason())
	}
	return b.String()
}

// title names a statement for people: by its Sid if it has one.
func (p *Policy) title(i int) string {
	title := fmt.Sprintf("statement %d", i+1)
	if sid := p.statements[i].sid; sid != "" {
		title = fmt.Sprintf("statement %q", quote(sid))
	}
	if p.name != "" {
		title += " of " + p.name
	}
	return title
}
