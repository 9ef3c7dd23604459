package filter

// Attribute is a message attribute: its type as given by the publisher, and its value, which is JSON for a
// String.Array.
type Attribute struct {
	Name, Type, Value string
}

// Message is the input of policies. Each part is read once, when a policy needs it.
type Message struct {
	text       string
	attributes []Attribute
	document   *document
	parsed     bool
	values     map[string][]scalar // of the requested attributes
}

// NewMessage returns a message that policies can be compared with.
func NewMessage(body string, attributes []Attribute) *Message {
	return &Message{text: body, attributes: attributes}
}

// body returns the body, or nil if it is not a JSON object.
func (m *Message) body() *document {
	if !m.parsed {
		m.parsed = true
		if d, ok := parseDocument(m.text); ok && d.kind(d.root()) == object {
			m.document = d
		}
	}
	return m.document
}

// attribute returns the values of an attribute, and whether the message has it.
func (m *Message) attribute(name string) ([]scalar, bool) {
	if values, known := m.values[name]; known {
		return values, true
	}
	for i := range m.attributes {
		a := &m.attributes[i]
		if a.Name != name {
			continue
		}
		values, compared := a.values()
		if compared {
			if m.values == nil {
				m.values = make(map[string][]scalar)
			}
			m.values[name] = values
		}
		return values, compared
	}
	return nil, false
}

// values returns the values of an attribute for comparisons, and whether it is compared at all.
func (a *Attribute) values() ([]scalar, bool) {
	switch kind := baseType(a.Type); kind {
	case "Binary":
		return nil, false
	case "Number":
		return []scalar{newScalar(number, a.Value)}, true
	case "String.Array", "Number.Array":
		d, ok := parseDocument(a.Value)
		if !ok || d.kind(d.root()) != array {
			return nil, true
		}
		return d.scalars(d.root(), nil), true
	}
	return []scalar{newScalar(text, a.Value)}, true
}

// baseType removes a custom label from a type: Number.int is a Number. The arrays are separate types.
func baseType(t string) string {
	if t == "String.Array" || t == "Number.Array" {
		return t
	}
	for i := range len(t) {
		if t[i] == '.' {
			return t[:i]
		}
	}
	return t
}
