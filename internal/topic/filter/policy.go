package filter

// Scope selects the part of a message that the policy compares.
type Scope uint8

const (
	MessageAttributes Scope = iota
	MessageBody
)

// Policy is a compiled filter policy. A policy without rules accepts everything.
type Policy struct {
	scope       Scope
	rules       []rule
	comparisons int // of a value: the keys and conditions of all rules
}

func newPolicy(scope Scope, rules []rule) *Policy {
	p := &Policy{scope: scope, rules: rules}
	for _, r := range rules {
		for _, k := range r {
			p.comparisons += 1 + len(k.conditions)
		}
	}
	return p
}

// Cost returns how much Matches does at most, as comparisons with a byte: a value may be as short as one.
func (p *Policy) Cost(m *Message) int {
	if p.scope == MessageBody {
		return p.comparisons * len(m.text)
	}
	n := 0
	for i := range m.attributes {
		n += len(m.attributes[i].Value)
	}
	return p.comparisons * n
}

// Scope returns the part of a message that the policy compares.
func (p *Policy) Scope() Scope { return p.scope }

// rule is a list of keys, all of which must match. A policy has one for each combination of its alternatives.
type rule []*key

// key is a path with its conditions. The path of a nested key is its names with a dot between each two, so that a name
// with dots in it is the same path.
type key struct {
	path       string
	conditions []condition
	absent     bool // {"exists": false} is among the conditions
}

// Matches reports whether the policy accepts the message.
func (p *Policy) Matches(m *Message) bool {
	switch {
	case len(p.rules) == 0:
		return true
	case p.scope == MessageBody && m.body() == nil, p.scope == MessageAttributes && len(m.attributes) == 0:
		return false
	}
	for _, r := range p.rules {
		if p.scope == MessageBody && r.matchesBody(m.body()) || p.scope == MessageAttributes && r.matchesAttributes(m) {
			return true
		}
	}
	return false
}

func (r rule) matchesAttributes(m *Message) bool {
	for _, k := range r {
		values, exists := m.attribute(k.path)
		if !exists && !k.absent || exists && !anyMatches(k.conditions, values) {
			return false
		}
	}
	return true
}

func anyMatches(conditions []condition, values []scalar) bool {
	for i := range values {
		if oneMatches(conditions, &values[i]) {
			return true
		}
	}
	return false
}

func oneMatches(conditions []condition, v *scalar) bool {
	for _, c := range conditions {
		if c.matches(v) {
			return true
		}
	}
	return false
}
