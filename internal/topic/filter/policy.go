package filter

// Scope says what of a message a policy looks at.
type Scope uint8

const (
	MessageAttributes Scope = iota
	MessageBody
)

// Policy is a filter policy, compiled. One without keys lets everything through.
type Policy struct {
	scope Scope
	rule  rule
}

// Scope returns what of a message the policy looks at.
func (p *Policy) Scope() Scope { return p.scope }

// rule is an object of a policy: all of its keys have to match, and of each $or one alternative.
type rule struct {
	keys []key
	ors  [][]rule
}

// key is a name with its conditions, or with an object of its own.
type key struct {
	name       string
	conditions []condition
	nested     *rule // nil if there are conditions
	present    bool  // {"exists": true} is among the conditions
	absent     bool  // {"exists": false} is
}

// Matches reports whether the policy lets the message through.
func (p *Policy) Matches(m *Message) bool {
	if len(p.rule.keys) == 0 && len(p.rule.ors) == 0 {
		return true
	}
	if p.scope == MessageAttributes {
		return p.rule.matchesAttributes(m)
	}
	body := m.body()
	return body != nil && p.rule.matchesObject(body, body.root())
}

func (r *rule) matchesAttributes(m *Message) bool {
	for i := range r.keys {
		k := &r.keys[i]
		values, exists := m.attribute(k.name)
		if !exists {
			if !k.absent {
				return false
			}
			continue
		}
		if !k.present && !anyMatches(k.conditions, values) {
			return false
		}
	}
	return r.eachOr(func(alternative *rule) bool { return alternative.matchesAttributes(m) })
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

// eachOr reports whether of each $or an alternative matches.
func (r *rule) eachOr(matches func(*rule) bool) bool {
	for _, alternatives := range r.ors {
		found := false
		for i := range alternatives {
			if found = matches(&alternatives[i]); found {
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// matchesObject compares with an object of a body, or with none.
func (r *rule) matchesObject(d *document, object node) bool {
	for i := range r.keys {
		k := &r.keys[i]
		value := d.member(object, k.name)
		if k.nested != nil {
			if matches, some := k.nested.matchesElement(d, value); !matches && (some || !k.nested.matchesObject(d, none)) {
				return false
			}
			continue
		}
		if matches, some := k.matchesScalar(d, value); !matches && (some || !k.absent) {
			return false
		}
	}
	return r.eachOr(func(alternative *rule) bool { return alternative.matchesObject(d, object) })
}

// matchesElement compares with an object, or with the elements of an array. It also reports whether there was any.
func (r *rule) matchesElement(d *document, value node) (matches, some bool) {
	switch d.kind(value) {
	case object:
		return r.matchesObject(d, value), true
	case array:
		for e := d.first(value); e != none; e = d.next(value, e) {
			m, a := r.matchesElement(d, e)
			if m {
				return true, true
			}
			some = some || a
		}
	}
	return false, some
}

// matchesScalar compares with a scalar, or with those in an array. It also reports whether there was any.
func (k *key) matchesScalar(d *document, value node) (matches, some bool) {
	switch d.kind(value) {
	case missing, object:
		return false, false
	case array:
		for e := d.first(value); e != none; e = d.next(value, e) {
			m, a := k.matchesScalar(d, e)
			if m {
				return true, true
			}
			some = some || a
		}
		return false, some
	}
	if k.present {
		return true, true
	}
	s := d.scalar(value)
	return oneMatches(k.conditions, &s), true
}
