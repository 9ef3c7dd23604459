package search

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// path leads to values in a JSON document.
type path []step

// step is the name of a member or the index of an element.
type step struct {
	name  []byte
	index int  // -1: it is no index
	any   bool // every member and element
}

func newPath(steps []text) (path, error) {
	var p path
	for _, t := range steps {
		s := step{name: []byte(t.s), index: -1, any: t == text{s: "*"}}
		if n, err := strconv.ParseUint(t.s, 10, 31); err == nil && !t.quoted && strconv.FormatUint(n, 10) == t.s {
			s.index = int(n)
		}
		if len(t.s) == 0 && !t.quoted {
			return nil, errors.New("a step of the path is empty; write body.name or body.name.within")
		}
		p = append(p, s)
	}
	if len(p) == 0 {
		return nil, errors.New("the path is missing: body.name or body.name.within")
	}
	return p, nil
}

// match reports whether one of the values that the path leads to holds; if exists is true, whether there is one at all.
// The text of a string is without quotes and escapes; true, false, null and numbers are as they were written. Of
// members with the same name the last one counts.
func (p path) match(m *Item, holds func([]byte) bool, exists bool) bool {
	return p.find(m, func(v []byte) bool {
		return exists || v[0] != '{' && v[0] != '[' && holds(scalar(v[:skip(v)]))
	})
}

// find calls take with each value that the path leads to, until take returns true, and reports whether it did. v is the
// value and the rest of the body behind it.
func (p path) find(m *Item, take func(v []byte) bool) bool {
	body := bytes.TrimLeft(m.Body, jsonSpace)
	if len(body) == 0 || body[0] != '{' && body[0] != '[' || p.cannot(body) || !m.isDocument() {
		return false
	}
	return p.walk(body, take)
}

// isDocument reports whether the body is JSON. It is checked once for all terms.
func (m *Item) isDocument() bool {
	if m.document == unread {
		m.document = notJSON
		if json.Valid(m.Body) {
			m.document = isJSON
		}
	}
	return m.document == isJSON
}

// document records whether a body is JSON.
type document uint8

const (
	unread document = iota
	notJSON
	isJSON
)

const jsonSpace = " \t\r\n"

// cannot reports whether a name of the path is nowhere in the body. It saves reading most bodies.
func (p path) cannot(body []byte) bool {
	for _, s := range p {
		if !s.any && s.index < 0 && !bytes.Contains(body, s.name) {
			return bytes.IndexByte(body, '\\') < 0
		}
	}
	return false
}

// walk looks at a value that begins at the front of v, which is part of a valid document.
func (p path) walk(v []byte, take func([]byte) bool) bool {
	v = bytes.TrimLeft(v, jsonSpace)
	switch {
	case len(p) == 0:
		return take(v)
	case v[0] == '{':
		return p.walkObject(v, take)
	case v[0] == '[':
		return p.walkArray(v, take)
	}
	return false
}

func (p path) walkObject(v []byte, take func([]byte) bool) bool {
	var found []byte
	for v = bytes.TrimLeft(v[1:], jsonSpace); v[0] != '}'; {
		end := skip(v)
		name := v[:end]
		v = bytes.TrimLeft(v[end:], jsonSpace)
		v = bytes.TrimLeft(v[1:], jsonSpace) // behind the colon
		end = skip(v)
		switch {
		case p[0].any:
			if p[1:].walk(v[:end], take) {
				return true
			}
		case bytes.Equal(scalar(name), p[0].name):
			found = v[:end]
		}
		v = nextElement(v[end:])
	}
	return found != nil && p[1:].walk(found, take)
}

func (p path) walkArray(v []byte, take func([]byte) bool) bool {
	v = bytes.TrimLeft(v[1:], jsonSpace)
	for i := 0; v[0] != ']'; i++ {
		end := skip(v)
		if (p[0].any || p[0].index == i) && p[1:].walk(v[:end], take) {
			return true
		}
		if !p[0].any && i >= p[0].index {
			return false
		}
		v = nextElement(v[end:])
	}
	return false
}

// nextElement skips the comma behind an element, if there is one.
func nextElement(v []byte) []byte {
	v = bytes.TrimLeft(v, jsonSpace)
	if v[0] == ',' {
		v = bytes.TrimLeft(v[1:], jsonSpace)
	}
	return v
}

// skip returns the length of the value that v begins with.
func skip(v []byte) int {
	switch v[0] {
	case '"':
		return skipString(v)
	case '{', '[':
		depth := 0
		for i := 0; ; i++ {
			switch v[i] {
			case '"':
				i += skipString(v[i:]) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return i + 1
				}
			}
		}
	}
	if end := bytes.IndexAny(v, ",]}"+jsonSpace); end >= 0 {
		return end
	}
	return len(v)
}

func skipString(v []byte) int {
	for i := 1; ; i++ {
		switch v[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// scalar returns the text of a value that is neither an object nor a list.
func scalar(v []byte) []byte {
	if v[0] != '"' {
		return v
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	var s string
	_ = json.Unmarshal(v, &s) // which was found valid before
	return []byte(s)
}
