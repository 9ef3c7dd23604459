package filter

import (
	"encoding/json"
)

// document is a JSON text parsed without copying: a list of its values in the order of the text, each of which knows
// where it ends. So a value that a policy does not need is skipped in one step, however deep it is.
type document struct {
	text   string
	values []value
	// index finds the members of large objects that policies have looked up.
	index map[node]map[string]node
}

// value is an element of the list. The members of an object follow it as name, value, name, value …; the elements of an
// array follow it too.
type value struct {
	kind       kind
	start, end uint32 // of a scalar or name: its bytes in the text, for strings without the quotes
	next       node   // the first value that does not belong to this one
}

// node is a place in the list.
type node int32

const none node = -1

type kind uint8

const (
	missing kind = iota
	object
	array
	plain   // a string without escapes
	escaped // a string with escapes
	digits
	word // true, false or null
)

// parseDocument reads a JSON text of one value.
func parseDocument(s string) (*document, bool) {
	if !json.Valid([]byte(s)) { // it also bounds the depth
		return nil, false
	}
	d := &document{text: s}
	var open []node // the objects and arrays around what is read
	for i := 0; i < len(s); {
		switch c := s[i]; c {
		case ' ', '\t', '\r', '\n', ',', ':':
			i++
		case '{', '[':
			k := object
			if c == '[' {
				k = array
			}
			open = append(open, node(len(d.values)))
			d.values = append(d.values, value{kind: k})
			i++
		case '}', ']':
			d.values[open[len(open)-1]].next = node(len(d.values))
			open = open[:len(open)-1]
			i++
		case '"':
			i++
			start, k := i, plain
			for s[i] != '"' {
				if s[i] == '\\' {
					k = escaped
					i++
				}
				i++
			}
			d.add(k, start, i)
			i++
		default:
			start, k := i, digits
			if c >= 'a' {
				k = word
			}
			for i < len(s) && !ends(s[i]) {
				i++
			}
			d.add(k, start, i)
		}
	}
	return d, true
}

// ends reports whether a number or keyword has ended before c.
func ends(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ']', '}':
		return true
	}
	return false
}

func (d *document) add(k kind, start, end int) {
	d.values = append(d.values, value{kind: k, start: uint32(start), end: uint32(end), next: node(len(d.values) + 1)})
}

func (d *document) root() node { return 0 }

func (d *document) kind(n node) kind {
	if n == none {
		return missing
	}
	return d.values[n].kind
}

// first returns the first element of an array or the first name of an object.
func (d *document) first(of node) node { return d.within(of, of+1) }

// next returns what follows n in an array or object.
func (d *document) next(of, n node) node { return d.within(of, d.values[n].next) }

func (d *document) within(of, n node) node {
	if n >= d.values[of].next {
		return none
	}
	return n
}

// largeObject is the number of values from which an object gets an index.
const largeObject = 32

// member returns the value of that name in an object. If the name occurs twice, the last one counts.
func (d *document) member(of node, name string) node {
	if of == none {
		return none
	}
	if d.values[of].next-of > largeObject {
		found, ok := d.names(of)[name]
		if !ok {
			return none
		}
		return found
	}
	found := none
	d.eachMember(of, func(n node, v node) {
		if d.string(n) == name {
			found = v
		}
	})
	return found
}

func (d *document) eachMember(of node, f func(name, value node)) {
	for n := d.first(of); n != none; {
		v := n + 1
		f(n, v)
		n = d.next(of, v)
	}
}

// names returns the index of an object.
func (d *document) names(of node) map[string]node {
	index, ok := d.index[of]
	if !ok {
		index = make(map[string]node)
		d.eachMember(of, func(n, v node) { index[d.string(n)] = v })
		if d.index == nil {
			d.index = make(map[node]map[string]node)
		}
		d.index[of] = index
	}
	return index
}

// string returns the value of a string.
func (d *document) string(n node) string {
	v := &d.values[n]
	if v.kind != escaped {
		return d.text[v.start:v.end]
	}
	var s string
	if err := json.Unmarshal([]byte(d.text[v.start-1:v.end+1]), &s); err != nil {
		return d.text[v.start:v.end] // not possible: the text is valid JSON
	}
	return s
}

// scalar returns a string, number or keyword.
func (d *document) scalar(n node) scalar {
	switch v := &d.values[n]; v.kind {
	case digits:
		return newScalar(number, d.text[v.start:v.end])
	case word:
		return newScalar(keyword, d.text[v.start:v.end])
	}
	return newScalar(text, d.string(n))
}

// scalars adds the scalars of an array, including those of arrays within it.
func (d *document) scalars(of node, to []scalar) []scalar {
	for n := of + 1; n < d.values[of].next; {
		switch d.kind(n) {
		case object:
			n = d.values[n].next
		case array:
			n++
		default:
			to = append(to, d.scalar(n))
			n++
		}
	}
	return to
}
