package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Warning describes a part of a policy that cannot work as its author must have intended, although the policy may be
// stored, as on AWS.
type Warning struct {
	Line, Column int
	Text         string
}

func (w Warning) String() string {
	return fmt.Sprintf("line %d, column %d: %s", w.Line, w.Column, w.Text)
}

// ownPrefixes are the prefixes of condition keys. This program knows all keys with them that a request can have.
var ownPrefixes = []string{"aws:", "iam:", "sts:", "sqs:", "sns:"}

// serviceKeys are the condition keys that services add, in lower case. The keys
// beginning with aws: are in keyIDs.
var serviceKeys = []string{
	"iam:permissionsboundary", "iam:policyarn", "iam:resourcetag/",
	"sns:endpoint", "sns:protocol",
	"sts:externalid", "sts:rolesessionname", "sts:sourceidentity", "sts:transitivetagkeys",
}

// exists reports whether a request can have k.
func (k *key) exists() bool {
	if k.id != otherKey {
		return k.arg != "" || k.id != principalTag && k.id != requestTag && k.id != resourceTag
	}
	if !slices.ContainsFunc(ownPrefixes, func(prefix string) bool { return strings.HasPrefix(k.name, prefix) }) {
		return true // another service's; it is for that to say
	}
	return slices.Contains(serviceKeys, k.name)
}

// Warnings returns what in p never has an effect: conditions on keys that no
// request has here, and, of a resource's policy, statements that are about
// another resource than the one that p is set on. Of the services, whose actions
// are known, it names those actions that do not exist.
func (p *Policy) Warnings(resource string, services ...*Rules) []Warning {
	var all []Warning
	add := func(pos int, format string, args ...any) {
		line, column := position(p.source, pos)
		all = append(all, Warning{line, column, fmt.Sprintf(format, quoteAll(args)...)})
	}
	for i := range p.statements {
		s := &p.statements[i]
		if p.use == ForResource && len(s.written) > 0 && !s.notResource && !s.reaches(resource) {
			add(s.written[0].pos, "no Resource of this statement is %s, which the policy is set on: the statement never applies", resource)
		}
		for j, a := range s.actions {
			vendor, _, _ := strings.Cut(string(a), ":")
			known := slices.IndexFunc(services, func(r *Rules) bool { return strings.EqualFold(r.Vendor, vendor) })
			if known < 0 {
				continue
			}
			if format, args := services[known].lacks(a); format != "" {
				add(s.actionPos[j], format, args...)
			}
		}
		for _, c := range s.conditions {
			if !c.key.exists() {
				add(c.pos, "no request has the condition key %s here: %s", c.key.written, c.absent())
			}
		}
	}
	return all
}

// reaches reports whether a Resource of s stands for the resource, for any values of its variables.
func (s *statement) reaches(resource string) bool {
	e := evaluation{steps: maxSteps}
	a := cutARN(resource)
	return slices.ContainsFunc(s.resources, func(one arnPattern) bool {
		return one.any() || one.unbound().matches(&e, &a)
	})
}

// absent returns the result of a condition whose key no request has.
func (c *condition) absent() string {
	switch {
	case c.operator.family == presence:
		return "Null sees it as absent"
	case c.ifExists, c.quantity == allValues, c.quantity == theValue && c.operator.negated:
		return "the condition is always met"
	}
	return "the condition is never met, and the statement never applies"
}

// unbound returns a with * for each variable: it may have any value.
func (a *arnPattern) unbound() *arnPattern {
	b := arnPattern{exact: a.exact, nothing: a.nothing, parts: slices.Clone(a.parts)}
	for i := range b.parts {
		p := &b.parts[i]
		if p.form != template {
			continue
		}
		p.form = glob
		for _, part := range p.parts {
			p.runes = append(p.runes, part.runes...)
			if part.variable != nil {
				p.runes = append(p.runes, star)
			}
		}
	}
	return &b
}
