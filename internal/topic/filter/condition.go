package filter

import (
	"net/netip"
	"strings"
)

// condition is an element of a key's list, except exists, which is about the key.
type condition interface {
	matches(*scalar) bool
}

// form is the kind of a scalar's JSON value.
type form uint8

const (
	text form = iota
	number
	keyword // true, false or null
)

// scalar is a value of a message: a string, or a number or keyword as written.
type scalar struct {
	form form
	text string
	// decimal is the number if the scalar can be compared as one.
	decimal   decimal
	isDecimal bool
}

func newScalar(f form, s string) scalar {
	v := scalar{form: f, text: s}
	if f == number {
		v.decimal, v.isDecimal = parseDecimal(s)
	}
	return v
}

// exact matches the same value.
type exact scalar

func (c *exact) matches(v *scalar) bool {
	if c.form != v.form {
		return false
	}
	return c.text == v.text || c.isDecimal && v.isDecimal && c.decimal == v.decimal
}

// nonEmpty matches the values that exists: true requires: all but null and the empty string.
type nonEmpty struct{}

func (nonEmpty) matches(v *scalar) bool {
	return v.form == text && v.text != "" || v.form == number || v.form == keyword && v.text != "null"
}

type prefix string

func (c prefix) matches(v *scalar) bool {
	return v.form == text && strings.HasPrefix(v.text, string(c))
}

type suffix string

func (c suffix) matches(v *scalar) bool {
	return v.form == text && strings.HasSuffix(v.text, string(c))
}

type equalsIgnoreCase string

func (c equalsIgnoreCase) matches(v *scalar) bool {
	return v.form == text && strings.EqualFold(v.text, string(c))
}

// wildcard is a pattern, cut at its stars. It has at least one star, so two pieces.
type wildcard []string

// matches takes each piece at its first occurrence: a later one would leave less for the pieces after it.
func (c wildcard) matches(v *scalar) bool {
	last := len(c) - 1
	if v.form != text || !strings.HasPrefix(v.text, c[0]) {
		return false
	}
	rest, ok := strings.CutSuffix(v.text[len(c[0]):], c[last])
	if !ok {
		return false
	}
	for _, piece := range c[1:last] {
		i := strings.Index(rest, piece)
		if i < 0 {
			return false
		}
		rest = rest[i+len(piece):]
	}
	return true
}

// anythingBut matches values that are not in a list of strings or numbers.
type anythingBut struct {
	texts    map[string]bool
	decimals map[decimal]bool
}

func (c *anythingBut) matches(v *scalar) bool {
	switch {
	case v.form == text:
		return !c.texts[v.text]
	case v.isDecimal:
		return !c.decimals[v.decimal]
	}
	return true
}

// noneOf matches values that none of its conditions matches.
type noneOf []condition

func (c noneOf) matches(v *scalar) bool { return !oneMatches(c, v) }

// numeric matches numbers between two bounds.
type numeric struct {
	from, to         decimal
	fromOpen, toOpen bool // the bound itself does not match
}

func (c *numeric) matches(v *scalar) bool {
	if !v.isDecimal {
		return false
	}
	above := v.decimal > c.from || !c.fromOpen && v.decimal == c.from
	below := v.decimal < c.to || !c.toOpen && v.decimal == c.to
	return above && below
}

// inNetwork matches IP addresses of a network.
type inNetwork netip.Prefix

func (c inNetwork) matches(v *scalar) bool {
	if v.form != text {
		return false
	}
	address, err := netip.ParseAddr(v.text)
	return err == nil && netip.Prefix(c).Contains(address.WithZone("").Unmap())
}
