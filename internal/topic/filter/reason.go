package filter

// Reason is the reason why a policy does not accept a message.
type Reason uint8

// The reasons that CloudWatch distinguishes.
const (
	NoAttributes      Reason = iota // the policy needs attributes, and the message has none
	OtherAttributes                 // the message has other attributes
	InvalidAttributes               // an attribute of an array type is not an array
	OtherBody                       // the body lacks what the policy needs
	InvalidBody                     // the body is not a JSON object
	Reasons                         // how many there are
)

// Reason returns why the policy does not accept a message that it does not match.
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

// malformed reports whether an attribute of an array type is not an array.
func (a *Attribute) malformed() bool {
	if t := baseType(a.Type); t != "String.Array" && t != "Number.Array" {
		return false
	}
	d, ok := parseDocument(a.Value)
	return !ok || d.kind(d.root()) != array
}
