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

// lower makes the capital letters of ASCII small, in place.
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

// containsFold reports whether b contains the text, which is in small letters and not empty, in any case of ASCII. It
// lets the machine's fast search find where it may begin.
func containsFold(b, text []byte) bool {
	first := text[0]
	upper := first
	if 'a' <= first && first <= 'z' {
		upper = first - ('a' - 'A')
	}
	small, capital := 0, 0 // where they are next in b
	next := func(from int, c byte) int {
		if i := bytes.IndexByte(b[from:], c); i >= 0 {
			return from + i
		}
		return len(b)
	}
	small = next(0, first)
	if capital = len(b); upper != first {
		capital = next(0, upper)
	}
	for {
		at := min(small, capital)
		if at+len(text) > len(b) {
			return false
		}
		if equalFold(b[at:at+len(text)], text) {
			return true
		}
		if at == small {
			small = next(at+1, first)
		} else {
			capital = next(at+1, upper)
		}
	}
}

// equalFold compares b with a text in small letters of the same length.
func equalFold(b, text []byte) bool {
	for i, c := range text {
		if lowerByte(b[i]) != c {
			return false
		}
	}
	return true
}
