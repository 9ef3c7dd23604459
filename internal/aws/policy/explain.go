package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Message says who may not do what on which resource and why, as AWS words it.
// It is meant for refusals.
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
	}
	text := fmt.Sprintf("User: %s is not authorized to perform: %s on resource: %s", who, action, r.Resource)
	switch article := "a"; {
	case d.By < ByResource || d.By == ByResource && r.ResourcePolicy != nil && r.ResourcePolicy.use == ForTrust:
		return text // who may assume a role is not told in detail
	case d.Result == ExplicitlyDenied:
		if d.By == ByIdentity {
			article = "an"
		}
		return fmt.Sprintf("%s with an explicit deny in %s %s", text, article, d.By)
	}
	return fmt.Sprintf("%s because no %s allows the %s action", text, d.By, action)
}

// Explanation is a Decision with what each statement has contributed to it.
type Explanation struct {
	Decision
	Rule    string // what has decided beside the policies, in words; mostly empty
	Traces  []Trace
	Missing []string // condition keys that a statement asked for in vain, in lower case
}

// Trace is how one statement fared.
type Trace struct {
	Source    Source
	Policy    *Policy
	Statement Statement
	Matched   bool
	Element   string // that did not match: Action, NotAction, Principal and so on
	Reason    string // in words
}

// Explain decides r and says how each statement contributed, also those that
// Decide need not look at.
func Explain(r *Request) Explanation {
	e := newEvaluation(r)
	x := Explanation{Decision: e.decide(), Rule: string(e.rule())}
	for _, p := range r.Identity {
		x.add(&e, ByIdentity, p)
	}
	x.add(&e, ByBoundary, r.Boundary)
	for _, p := range r.Session {
		x.add(&e, BySession, p)
	}
	x.add(&e, ByResource, r.ResourcePolicy)
	return x
}

func (x *Explanation) add(e *evaluation, by Source, p *Policy) {
	if p == nil {
		return
	}
	for i := range p.statements {
		s := &p.statements[i]
		g, failed := e.match(p, s)
		t := Trace{Source: by, Policy: p, Statement: p.Statement(i), Matched: failed.element == matched}
		t.Element, t.Reason = e.describe(s, g, failed)
		x.Traces = append(x.Traces, t)
		if failed.element == byCondition || failed.element == matched {
			x.missing(e, s)
		}
	}
}

// missing notes the keys of a statement's conditions that the request lacks.
func (x *Explanation) missing(e *evaluation, s *statement) {
	var v Value
	for i := range s.conditions {
		k := &s.conditions[i].key
		if !e.lookup(k, &v) && !slices.Contains(x.Missing, k.name) {
			x.Missing = append(x.Missing, k.name)
		}
	}
}

// describe puts into words why a statement applies or not.
func (e *evaluation) describe(s *statement, g grant, failed mismatch) (element, reason string) {
	name := func(not bool, name string) string {
		if not {
			return "Not" + name
		}
		return name
	}
	r := e.request
	switch failed.element {
	case byAction:
		if s.notActions {
			return "NotAction", "NotAction excepts " + r.Action
		}
		return "Action", "Action does not name " + r.Action
	case byPrincipal:
		who := r.Caller.ARN
		if who == "" {
			who = r.Caller.Service
		}
		if who == "" {
			who = "anonymous"
		}
		if s.principals.not {
			return "NotPrincipal", "NotPrincipal excepts " + who
		}
		return "Principal", "Principal does not name " + who
	case byResource:
		switch {
		case s.notResource && e.unresolved:
			return "NotResource", "a variable of NotResource has no value in this request"
		case s.notResource:
			return "NotResource", "NotResource excepts " + r.Resource
		case e.unscoped:
			return "Resource", `the action is about no resource, only Resource "*" covers it`
		}
		return "Resource", "Resource does not cover " + r.Resource
	case byCondition:
		return "Condition", e.describeCondition(&s.conditions[failed.condition])
	}
	reason = fmt.Sprintf("%s, %s and all conditions match", name(s.notActions, "Action"), name(s.notResource, "Resource"))
	switch {
	case s.effect == Deny:
	case g == accountGrant:
		reason += "; Principal names the caller's account, whose own policies have to agree"
	case g == issuerGrant:
		reason += "; Principal names whom the session acts for, so its own limits apply"
	}
	return "", reason
}

func (e *evaluation) describeCondition(c *condition) string {
	wants := make([]string, len(c.values))
	for i := range c.values {
		wants[i] = c.values[i].written
		if !c.values[i].ok {
			wants[i] += " (which is not " + c.operator.family.wants() + ")"
		}
	}
	has := "the request has none"
	var v Value
	if e.lookup(&c.key, &v) {
		has = "the request has " + v.String()
		if v.kind == listValue && c.quantity == theValue {
			has += ", a list, which only ForAllValues and ForAnyValue look into"
		}
	}
	return fmt.Sprintf("%s %s is not met: it wants %s, %s", c.written, c.key.written, strings.Join(wants, " or "), has)
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
	for _, t := range x.Traces {
		verb := "does not apply"
		if t.Matched {
			verb = "applies"
		}
		title, st := t.Policy.title(t.Statement.Index), t.Statement
		fmt.Fprintf(&b, "  %s, %s (%s, line %d) %s: %s\n", t.Source, title, st.Effect, st.Start.Line, verb, t.Reason)
	}
	return b.String()
}

// title names a statement for people: by its Sid if it has one.
func (p *Policy) title(i int) string {
	title := fmt.Sprintf("statement %d", i+1)
	if sid := p.statements[i].sid; sid != "" {
		title = fmt.Sprintf("statement %q", sid)
	}
	if p.name != "" {
		title += " of " + p.name
	}
	return title
}
