package filter

// Reason says why a policy does not let a message through.
type Reason uint8

// The reasons, as CloudWatch tells them apart.
const (
	NoAttributes      Reason = iota // the policy asks for attributes, and the message has none
	OtherAttributes                 // it has others
	InvalidAttributes               // one of them says that it is an array, and is none
	OtherBody                       // the body has not what the policy asks for
	InvalidBody                     // the body is no JSON object
	Reasons                         // how many there are
)

// Reason returns why the policy does not let a message through that it does not match.
func (p *Policy) Reason(m *Message) Reason {
	switch {
	case p.scope == MessageBody && m.body() == nil:
		return InvalidBody
	case p.scope == MessageBody:
		return OtherBody
	case len(m.attributes) == 0:
		return NoAttributes
	}
	for i := range m.attributes {
		if m.attributes[i].malformed() {
			return InvalidAttributes
		}
	}
	return OtherAttributes
}

// malformed reports whether an attribute says that it is an array, and is none.
func (a *Attribute) malformed() bool {
	if t := baseType(a.Type); t != "String.Array" && t != "Number.Array" {
		return false
	}
	d, ok := parseDocument(a.Value)
	return !ok || d.kind(d.root()) != array
}
