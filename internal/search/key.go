package search

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// keyNames are the keys that errors list.
const keyNames = "attr.NAME, body.PATH, source, sender, group, count and day"

// maxValue is the maximum size of a value that a term of a filter still has room for.
const maxValue = 256

// Key is a property of messages, by its name in a filter: "attr.NAME", "body.path.to", "source", "sender", "group",
// "count" of receives, or the "day" of the send in UTC. It is safe for concurrent use.
type Key struct {
	name      string // as terms have it
	of        func(*Item) (value []byte, exact bool)
	term      func(value string) string
	readsBody bool
	readsText bool
}

// Value is the value that a message has of a key.
type Value struct {
	Text    []byte // valid until the next read of the message
	Missing bool   // the message has none
	Cut     bool   // Text is only the beginning, or no filter can name it
}

// ParseKey parses a key.
func ParseKey(text string) (*Key, error) {
	if len(text) > MaxLength/2 || !utf8.ValidString(text) {
		return nil, fmt.Errorf("the key has %d bytes; it may have %d, in UTF-8", len(text), MaxLength/2)
	}
	s := scanner{rest: text}
	name, err := s.name()
	if err != nil {
		return nil, err
	}
	if s.rest != "" || name[0].quoted {
		return nil, fmt.Errorf("there is no key %q; there are %s", text, keyNames)
	}
	k := &Key{name: text, term: func(value string) string { return text + ":" + quote(value) }}
	switch {
	case name[0].s == "attr" && len(name) > 1:
		k.readsText, k.of = true, attributeValue(joined(name[1:]))
	case name[0].s == "body" && len(name) > 1:
		k.readsText, k.readsBody = true, true
		k.of, err = bodyValue(name[1:])
		return k, err
	case len(name) > 1 || !k.known(name[0].s):
		return nil, fmt.Errorf("there is no key %q; there are %s", text, keyNames)
	}
	return k, nil
}

// known makes k the key of a field without a path, and reports whether there is one of that name.
func (k *Key) known(name string) bool {
	switch name {
	case "count":
		k.of = func(m *Item) ([]byte, bool) { return strconv.AppendUint(nil, m.Count, 10), true }
		k.term = func(n string) string { return "count>=" + n + " count<=" + n }
	case "day":
		k.of = func(m *Item) ([]byte, bool) {
			return time.UnixMilli(m.Sent).UTC().AppendFormat(nil, time.DateOnly), true
		}
		k.term = dayTerm
	default:
		get := textField(name)
		if get == nil || name == "id" || name == "dedup" { // which are different in each message
			return false
		}
		k.of = func(m *Item) ([]byte, bool) { return get(m), true }
	}
	return true
}

// dayTerm returns the terms for the messages of a day.
func dayTerm(day string) string {
	at, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return "sent>=" + day + " sent<" + at.AddDate(0, 0, 1).Format(time.DateOnly)
}

// ReadsBody reports whether values come from bodies.
func (k *Key) ReadsBody() bool { return k.readsBody }

// ReadsText reports whether values come from bodies or attributes.
func (k *Key) ReadsText() bool { return k.readsText }

// Of returns the value of a message.
func (k *Key) Of(m *Item) Value {
	text, exact := k.of(m)
	if len(text) > maxValue {
		text, exact = cut(text), false
	}
	return Value{Text: text, Missing: text == nil || len(text) == 0 && !k.readsText, Cut: !exact}
}

// cut returns the beginning of a text, which ends with a whole character.
func cut(text []byte) []byte {
	end := maxValue
	for end > maxValue-utf8.UTFMax && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// Term returns the terms of a filter for the messages with a value, or none if no filter can name it.
func (k *Key) Term(v Value) string {
	switch {
	case v.Cut || !utf8.Valid(v.Text):
		return ""
	case v.Missing && k.readsText:
		return "-" + k.name + ":*"
	}
	return k.term(string(v.Text))
}

// quote puts a value in quotes for a filter.
func quote(value string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

func attributeValue(name string) func(*Item) ([]byte, bool) {
	return func(m *Item) ([]byte, bool) {
		for _, a := range m.Attributes {
			if string(a.Name) == name {
				return a.Value, true
			}
		}
		return nil, true
	}
}

func bodyValue(steps []text) (func(*Item) ([]byte, bool), error) {
	p, err := newPath(steps)
	if err != nil {
		return nil, err
	}
	for _, s := range p {
		if s.any {
			return nil, errors.New("a key has one value in a message: its path has no *")
		}
	}
	return func(m *Item) (value []byte, exact bool) {
		exact = true
		p.find(m, func(v []byte) bool {
			if v[0] == '{' || v[0] == '[' {
				value, exact = v[:skip(v)], false
			} else if value = scalar(v[:skip(v)]); value == nil {
				value = []byte{}
			}
			return true
		})
		return value, exact
	}, nil
}

// joined returns the name that steps make.
func joined(steps []text) string {
	parts := make([]string, len(steps))
	for i, t := range steps {
		parts[i] = t.s
	}
	return strings.Join(parts, ".")
}

// textField returns a function that reads a text field of a message, or nil if there is none of that name.
func textField(name string) func(*Item) []byte {
	switch name {
	case "id":
		return func(m *Item) []byte { return m.ID }
	case "group":
		return func(m *Item) []byte { return m.Group }
	case "dedup":
		return func(m *Item) []byte { return m.Dedup }
	case "sender":
		return func(m *Item) []byte { return m.Sender }
	case "source":
		return func(m *Item) []byte { return m.Source }
	}
	return nil
}
