package search

import (
	"bytes"
	"strings"
)

// pattern is a text with any other text before or behind it, or neither.
type pattern struct {
	text          []byte
	before, after bool
}

func newPattern(t text) pattern {
	p := pattern{text: []byte(t.s)}
	if t.quoted {
		return p
	}
	s, after := strings.CutSuffix(t.s, "*")
	s, before := strings.CutPrefix(s, "*")
	return pattern{[]byte(s), before, after}
}

func (p pattern) match(b []byte) bool {
	switch {
	case p.before && p.after:
		return bytes.Contains(b, p.text)
	case p.before:
		return bytes.HasSuffix(b, p.text)
	case p.after:
		return bytes.HasPrefix(b, p.text)
	}
	return bytes.Equal(b, p.text)
}

// lower converts the capital letters of ASCII to lower case, in place.
func lower(b []byte) []byte {
	for i, c := range b {
		b[i] = lowerByte(c)
	}
	return b
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// equalFold compares b with a lower-case text of the same length.
func equalFold(b, text []byte) bool {
	for i, c := range text {
		if lowerByte(b[i]) != c {
			return false
		}
	}
	return true
}
