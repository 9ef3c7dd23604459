package policy

import (
	"errors"
	"slices"
	"strings"
)

// Parse reads a policy for one use. It accepts every policy that the grammar allows for that use and that can be
// evaluated: that is for policies which have been set. ParseResource and CheckIAM check the other requirements of a
// policy that is about to be set. The error is always an *Error.
func Parse(use Use, source string) (*Policy, error) {
	p := &parser{
		reader: reader{src: source}, policy: &Policy{use: use, source: source, version: Version2008},
		sids: make(map[string]bool),
	}
	if err := p.document(); err != nil {
		return nil, err
	}
	return p.policy, nil
}

type parser struct {
	reader
	policy *Policy
	sids   map[string]bool // of the statements so far
}

// elements says which elements an object has, and sees each.
func (p *parser) elements(n *node, what string, f map[string]func(n *node) error) error {
	if n.form != object {
		return p.fault(Grammar, n.pos, "%s is %s; it has to be an object in braces", what, n.form)
	}
	for i := range n.members {
		m := &n.members[i]
		read, known := f[m.name]
		if !known {
			for name := range f {
				if strings.EqualFold(name, m.name) {
					return p.fault(
						Grammar, m.pos, "%q is written %q: the names of elements keep their case", m.name, name,
					)
				}
			}
			return p.fault(Grammar, m.pos, "%q is not an element of %s", m.name, what)
		}
		if err := read(&m.value); err != nil {
			return err
		}
	}
	return nil
}

// oneOf returns the member of one name or the other, and refuses both.
func (p *parser) oneOf(n *node, name, other string) (*member, error) {
	m, alternative := n.member(name), n.member(other)
	switch {
	case m == nil:
		return alternative, nil
	case alternative != nil:
		return nil, p.fault(
			Grammar, max(m.pos, alternative.pos), "a statement has either %s or %s, not both", name, other,
		)
	}
	return m, nil
}

func (p *parser) text(n *node, what string) (string, error) {
	if n.form != text {
		return "", p.fault(Grammar, n.pos, "%s is %s; it has to be a string", what, n.form)
	}
	return n.text, nil
}

// texts reads one string or a list of them. An empty list is the fault that is given.
func (p *parser) texts(n *node, what string, empty Fault) ([]node, error) {
	list := []node{*n}
	if n.form == array {
		if list = n.list; len(list) == 0 {
			return nil, p.fault(empty, n.pos, "%s is an empty list", what)
		}
	}
	for i := range list {
		if list[i].form != text {
			return nil, p.fault(
				Grammar, list[i].pos, "%s is %s; it has to be a string or a list of strings", what, list[i].form,
			)
		}
	}
	return list, nil
}

func (p *parser) document() error {
	root, err := p.reader.document()
	if err != nil {
		if e, ok := errors.AsType[*Error](err); ok {
			e.use = p.policy.use
		}
		return err
	}
	var statements *node
	err = p.elements(&root, "a policy", map[string]func(*node) error{
		"Version": func(n *node) (err error) {
			if p.policy.version, err = p.text(n, "Version"); err != nil {
				return err
			}
			if v := p.policy.version; v != Version2008 && v != Version2012 {
				return p.fault(
					BadVersion, n.pos, "Version %q is not known; there are %s and %s", v, Version2012, Version2008,
				)
			}
			return nil
		},
		"Id": func(n *node) (err error) {
			p.policy.id, err = p.text(n, "Id")
			return err
		},
		"Statement": func(n *node) error {
			statements = n
			p.policy.listPos, p.policy.listEnd = n.pos, n.end
			return nil
		},
	})
	if err != nil {
		return err
	}
	if statements == nil {
		return p.fault(Grammar, root.pos, "the policy has no Statement")
	}
	list := []node{*statements}
	if statements.form == array {
		list = statements.list
	}
	if len(list) == 0 {
		return p.fault(Grammar, statements.pos, "the list of statements is empty")
	}
	places := placeCounter{src: p.src}
	began := places.at(statements.pos + 1)
	for i := range list {
		s, err := p.statement(&list[i])
		if err != nil {
			return err
		}
		if s.began = began; statements.form == array {
			s.start = places.at(s.pos)
		} else {
			s.start = Position{began.Line, began.Column - 1} // of the brace, behind which it began
		}
		s.stop = places.at(s.end)
		began = s.stop
		p.policy.statements = append(p.policy.statements, s)
	}
	return nil
}

func (p *parser) statement(n *node) (statement, error) {
	s := statement{pos: n.pos, end: n.end}
	ignore := func(*node) error { return nil }
	err := p.elements(n, "a statement", map[string]func(*node) error{
		"Sid": func(n *node) (err error) {
			if s.sid, err = p.text(n, "Sid"); err != nil || s.sid == "" {
				return err
			}
			if p.policy.use != ForResource && !alphanumeric(s.sid, "") {
				return p.fault(BadSid, n.pos, "the Sid %q has characters other than letters and digits", s.sid)
			}
			if p.sids[s.sid] {
				return p.fault(DuplicateSid, n.pos, "the Sid %q is already that of another statement", s.sid)
			}
			p.sids[s.sid] = true
			return nil
		},
		"Effect": func(n *node) error {
			effect, err := p.text(n, "Effect")
			switch {
			case err != nil:
				return err
			case effect == "Allow":
				s.effect = Allow
			case effect == "Deny":
				s.effect = Deny
			default:
				return p.fault(Grammar, n.pos, "the Effect %q is neither Allow nor Deny", effect)
			}
			return nil
		},
		"Principal": ignore, "NotPrincipal": ignore, "Action": ignore, "NotAction": ignore,
		"Resource": ignore, "NotResource": ignore, "Condition": ignore,
	})
	if err != nil {
		return s, err
	}
	if s.effect == 0 {
		return s, p.fault(Grammar, n.pos, "the statement has no Effect")
	}
	for _, read := range []func(*statement, *node) error{p.principals, p.actions, p.resources, p.conditions} {
		if err := read(&s, n); err != nil {
			return s, err
		}
	}
	return s, nil
}

func (p *parser) principals(s *statement, n *node) error {
	m, err := p.oneOf(n, "Principal", "NotPrincipal")
	if err != nil {
		return err
	}
	needed := p.policy.use == ForResource || p.policy.use == ForTrust
	switch {
	case m == nil && needed:
		return p.noPrincipal(n)
	case m == nil:
		return nil
	case !needed:
		return p.fault(ProhibitedElement, m.pos, "Policy document should not specify a principal.")
	}
	s.principals.not = m.name == "NotPrincipal"
	if m.value.form == text {
		if m.value.text != "*" {
			return p.fault(BadPrincipal, m.value.pos, `%s is the string %q; it has to be "*" or an object such as {"AWS": "111122223333"}`,
				m.name, m.value.text)
		}
		s.principals.list = []principal{{kind: everyone, bare: m.name == "Principal", pos: m.value.pos}}
		return nil
	}
	if m.value.form != object || len(m.value.members) == 0 {
		return p.fault(BadPrincipal, m.value.pos, `%s has to be "*" or an object such as {"AWS": "111122223333"}`, m.name)
	}
	for i := range m.value.members {
		kind := &m.value.members[i]
		if !slices.Contains([]string{"AWS", "Service", "Federated", "CanonicalUser"}, kind.name) {
			return p.fault(
				BadPrincipal,
				kind.pos,
				"%q is not a kind of principal; there are AWS, Service, Federated and CanonicalUser",
				kind.name,
			)
		}
		names, err := p.texts(&kind.value, kind.name, Grammar)
		if err != nil {
			return err
		}
		for i := range names {
			one, why := newPrincipal(kind.name, names[i].text)
			if why != nil {
				return p.badPrincipal(kind.name, &names[i], why)
			}
			one.pos, one.end = names[i].pos, names[i].end
			s.principals.list = append(s.principals.list, one)
		}
	}
	return nil
}

// noPrincipal refuses a statement that must have principals. Of a trust policy IAM names a Resource first, which is
// prohibited there.
func (p *parser) noPrincipal(n *node) error {
	fault := Grammar
	if p.policy.use == ForTrust {
		if err := p.resources(new(statement), n); err != nil {
			return err
		}
		fault = NoPrincipal
	}
	return p.fault(
		fault,
		n.pos,
		"the statement has no Principal, but a %s policy has to name the callers that it is about",
		p.policy.use,
	)
}

// badPrincipal refuses the name of a principal of a kind.
func (p *parser) badPrincipal(kind string, name *node, why error) error {
	err := p.fault(BadPrincipal, name.pos, "%s", why)
	err.principal = `"` + strings.ToUpper(kind) + `":"` + quote(name.text) + `"`
	return err
}

func (p *parser) actions(s *statement, n *node) error {
	m, err := p.oneOf(n, "Action", "NotAction")
	if err != nil {
		return err
	}
	if m == nil {
		return p.fault(NoAction, n.pos, "the statement has neither Action nor NotAction")
	}
	s.notActions = m.name == "NotAction"
	list, err := p.texts(&m.value, m.name, NoAction)
	if err != nil {
		return err
	}
	for i := range list {
		a, ok := newActionPattern(list[i].text)
		if !ok {
			return p.badAction(&list[i])
		}
		s.actions = append(s.actions, a)
		s.actionPos = append(s.actionPos, list[i].pos)
	}
	return nil
}

// badAction refuses a text that is not an action.
func (p *parser) badAction(n *node) error {
	vendor, _, found := strings.Cut(n.text, ":")
	if strings.Count(n.text, ":") > 1 {
		return p.fault(ManyColons, n.pos, "%q is not an action: it has more than one colon", n.text)
	}
	err := p.fault(
		NoVendor, n.pos, "%q is not an action: write it as sqs:SendMessage, or with wildcards as sqs:*", n.text,
	)
	if found && vendor != "" && !alphanumeric(vendor, "-*?") {
		err.Fault, err.vendor = BadVendor, quote(vendor)
	}
	return err
}

// variables is the meaning of ${ in the document's version.
func (p *parser) variables() syntax {
	if p.policy.version == Version2012 {
		return variables
	}
	return 0
}

func (p *parser) resources(s *statement, n *node) error {
	m, err := p.oneOf(n, "Resource", "NotResource")
	switch {
	case err != nil:
		return err
	case m == nil && p.policy.use == ForTrust:
		return nil
	case m == nil:
		return p.fault(NoResource, n.pos, "the statement has neither Resource nor NotResource")
	case p.policy.use == ForTrust:
		return p.fault(ProhibitedElement, m.pos, "Has prohibited field %s", m.name)
	}
	s.notResource = m.name == "NotResource"
	list, err := p.texts(&m.value, m.name, NoResource)
	if err != nil {
		return err
	}
	for i := range list {
		one, err := p.resource(&list[i])
		if err != nil {
			return err
		}
		s.resources = append(s.resources, one)
		s.written = append(s.written, resource{list[i].text, list[i].pos})
	}
	return nil
}

// modernFormat turns the original format of a queue, account/queue or
// /account/queue, into the ARN pattern for it in any region. The account may have
// any number of digits.
func modernFormat(resource string) string {
	account, queue, _ := strings.Cut(strings.TrimPrefix(resource, "/"), "/")
	if account == "" || strings.Trim(account, "0123456789") != "" || queue == "" || strings.Contains(queue, ":") {
		return resource
	}
	return "arn:aws:sqs:*:" + account + ":" + queue
}

func (p *parser) resource(n *node) (arnPattern, error) {
	written := n.text
	if p.policy.use == ForResource {
		written = modernFormat(written)
	}
	switch {
	case written == "*" || strings.HasPrefix(written, "arn:"):
	case p.policy.use == ForResource && (written == "" || strings.Trim(written, "*") != ""):
		return arnPattern{nothing: true}, nil // SQS takes it and never applies it
	case p.policy.use != ForResource:
		return arnPattern{}, p.fault(BadResource, n.pos, `Resource %s must be in ARN format or "*".`, written)
	}
	a, err := newARNPattern(written, wildcards|p.variables())
	if err != nil {
		return a, p.fault(Grammar, n.pos, "%s", err)
	}
	for i := range a.parts {
		if a.parts[i].form == template && i < segments-1 {
			return a, p.fault(BadResource, n.pos, "a variable can stand for the last part of an ARN only, behind its fifth colon")
		}
	}
	return a, nil
}

func (p *parser) conditions(s *statement, n *node) error {
	m := n.member("Condition")
	if m == nil {
		return nil
	}
	if m.value.form != object {
		return p.fault(Grammar, m.value.pos, "Condition is %s; it has to be an object of operators", m.value.form)
	}
	for i := range m.value.members {
		named := &m.value.members[i]
		pattern, ok := newCondition(named.name)
		if !ok {
			return p.fault(Grammar, named.pos, "%q is not a condition operator%s", named.name, suggestion(named.name))
		}
		if named.value.form != object {
			return p.fault(
				Grammar, named.value.pos, "%s is %s; it has to be an object of keys", named.name, named.value.form,
			)
		}
		for j := range named.value.members {
			c := pattern
			if err := p.condition(&c, &named.value.members[j]); err != nil {
				return err
			}
			s.conditions = append(s.conditions, c)
		}
	}
	return nil
}

// suggestion corrects an operator with the wrong case.
func suggestion(name string) string {
	for known := range operators {
		if strings.EqualFold(known, name) {
			return "; it is written " + known
		}
	}
	return ""
}

func (p *parser) condition(c *condition, m *member) error {
	if vendor, name, ok := strings.Cut(m.name, ":"); !ok || vendor == "" || name == "" {
		return p.fault(NoVendor, m.pos, "%q is not a condition key: write it with its prefix, as aws:SourceIp", m.name)
	}
	c.key, c.pos = newKey(m.name), m.pos
	list := []node{m.value}
	if m.value.form == array {
		list = m.value.list
	}
	if len(list) == 0 {
		return p.fault(Grammar, m.value.pos, "%s has an empty list of values", m.name)
	}
	for i := range list {
		n := &list[i]
		if n.form != text && n.form != number && n.form != boolean {
			return p.fault(Grammar, n.pos, "a value of %s is %s; it has to be a string, a number, or true or false", m.name, n.form)
		}
		o, why := newOperand(c.operator.family, n.text, p.variables())
		if why != nil {
			return p.fault(Grammar, n.pos, "%s", why)
		}
		o.pos = n.pos
		c.values = append(c.values, o)
	}
	return nil
}
