package filter

// Scope says what of a message a policy looks at.
type Scope uint8

const (
	MessageAttributes Scope = iota
	MessageBody
)

// Policy is a filter policy, compiled. One without rules lets everything through.
type Policy struct {
	scope Scope
	rules []rule
}

// Scope returns what of a message the policy looks at.
func (p *Policy) Scope() Scope { return p.scope }

// rule is a list of keys, all of which have to match. A policy has one for each way through its alternatives.
type rule []*key

// key is a path with its conditions. The path of a nested key is its names with a dot between each two, so that a name
// with dots in it is the same path.
type key struct {
	path       string
	conditions []condition
	present    bool // {"exists": true} is among the conditions
	absent     bool // {"exists": false} is
}

// Matches reports whether the policy lets the message through.
func (p *Policy) Matches(m *Message) bool {
	if len(p.rules) == 0 {
		return true
	}
	if p.scope == MessageBody && m.body() == nil {
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
		if !exists && !k.absent || exists && !k.present && !anyMatches(k.conditions, values) {
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
