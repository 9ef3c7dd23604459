package sns

import (
	"strings"

	"github.com/sluicemq/sluice/internal/api/service"
)

// wording is how an operation names a refused attribute.
type wording bool

const (
	one     wording = false // of operations that set one attribute
	several wording = true  // of operations that take a map of attributes
)

// wrong refuses the value of an attribute.
func (w wording) wrong(name, reason string) error {
	if w == several {
		return errParameter("Attributes Reason: %s: %s", name, reason)
	}
	return errParameter("%s: %s", name, reason)
}

// refuse refuses an attribute in a sentence of AWS that does not begin with its name.
func (w wording) refuse(sentence string) error {
	if w == several {
		return errParameter("Attributes Reason: %s", sentence)
	}
	return errParameter("%s", sentence)
}

// unknown refuses an unknown attribute.
func (w wording) unknown(name string) error {
	if w == several {
		return errParameter("Attributes Reason: Unknown attribute %s", service.Shorten(name))
	}
	return errParameter("AttributeName")
}

// wrongFilter refuses a filter policy. Some sentences of AWS begin with the name of the attribute, and some do not.
func (w wording) wrongFilter(reason string) error {
	if w == several {
		return w.wrong(attrFilter, strings.TrimPrefix(reason, attrFilter+": "))
	}
	return w.refuse(reason)
}
