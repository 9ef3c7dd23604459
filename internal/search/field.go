package search

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// fieldNames are the fields that errors list.
const fieldNames = "attr.NAME, body.PATH, sent, first, age, count, size, id, group, dedup, sender, source"

// word returns the term for a text anywhere in a message.
func word(name []text) (term, error) {
	parts := make([]string, len(name))
	for i, n := range name {
		if parts[i] = n.s; n.quoted && len(name) > 1 {
			return term{}, errors.New("a text is in quotes only in part; put all of it in quotes")
		}
	}
	w := []byte(strings.Join(parts, "."))
	if len(w) == 0 {
		return term{}, errors.New("a term has no text")
	}
	n := newNeedle(w)
	return term{readsBody: true, holds: func(m *Item) bool {
		return len(m.ID) == len(n.text) && equalFold(m.ID, n.text) || n.in(m.Group) || n.in(m.Body) ||
			n.in(m.decoded()) ||
			slices.ContainsFunc(m.Attributes, func(a Attribute) bool { return n.in(a.Value) })
	}}, nil
}

// field returns the term for a field, an operator and a value.
func field(name []text, op string, value text) (term, error) {
	head := name[0]
	if head.quoted {
		return term{}, errors.New("the name of a field is not in quotes; put a text that has an operator in it in quotes as a whole")
	}
	switch head.s {
	case "attr":
		return attributeTerm(name[1:], op, value)
	case "body":
		return bodyTerm(name[1:], op, value)
	}
	if len(name) > 1 {
		return term{}, errNoField(name)
	}
	switch head.s {
	case "sent":
		return timeTerm(func(m *Item) int64 { return m.Sent }, head.s, op, value)
	case "first":
		return timeTerm(func(m *Item) int64 { return m.First }, head.s, op, value)
	case "age":
		age, ok := parseAge(value.s)
		if !ok || op == ":" {
			return term{}, fmt.Errorf("age is compared by < or > with a duration such as 90s, 15m, 2h or 3d")
		}
		return ordered(func(m *Item) (int64, bool) { return m.Now - m.Sent, true }, op, age), nil
	case "count":
		n, err := strconv.ParseUint(value.s, 10, 63)
		if err != nil {
			return term{}, errors.New("count is compared with a number such as 3")
		}
		return ordered(
			func(m *Item) (int64, bool) { return int64(min(m.Count, math.MaxInt64)), true }, op, int64(n),
		), nil
	case "size":
		n, ok := parseSize(value.s)
		if !ok {
			return term{}, errors.New("size is compared with a number of bytes such as 500, 10k or 1m")
		}
		return ordered(func(m *Item) (int64, bool) { return int64(m.Size), true }, op, n), nil
	}
	get := textField(head.s)
	switch {
	case get == nil:
		return term{}, errNoField(name)
	case op != ":":
		return term{}, fmt.Errorf("%s is compared by a colon only", head.s)
	}
	if value == (text{s: "*"}) {
		return term{holds: func(m *Item) bool { return len(get(m)) > 0 }}, nil
	}
	p := newPattern(value)
	return term{holds: func(m *Item) bool { return p.match(get(m)) }}, nil
}

func errNoField(name []text) error {
	return fmt.Errorf("there is no field %q; there are %s; put a text in quotes to search for it", joined(name), fieldNames)
}

// attributeTerm returns the term for a message attribute, whose name may contain dots.
func attributeTerm(name []text, op string, value text) (term, error) {
	want := []byte(joined(name))
	if len(want) == 0 {
		return term{}, errors.New("the name of the attribute is missing: attr.NAME")
	}
	holds, err := valueTest(op, value)
	if err != nil {
		return term{}, err
	}
	return term{readsAttribute: true, holds: func(m *Item) bool {
		for _, a := range m.Attributes {
			if bytes.Equal(a.Name, want) {
				return holds(a.Value)
			}
		}
		return false
	}}, nil
}

// bodyTerm returns the term for a value in a JSON body.
func bodyTerm(name []text, op string, value text) (term, error) {
	p, err := newPath(name)
	if err != nil {
		return term{}, err
	}
	holds, err := valueTest(op, value)
	if err != nil {
		return term{}, err
	}
	exists := op == ":" && value == text{s: "*"}
	return term{readsBody: true, holds: func(m *Item) bool { return p.match(m, holds, exists) }}, nil
}

// valueTest returns the test of an operator and a value.
func valueTest(op string, value text) (func([]byte) bool, error) {
	if op == ":" {
		return newPattern(value).match, nil
	}
	want, ok := parseDecimal([]byte(value.s))
	if !ok {
		return nil, fmt.Errorf("%s compares numbers, and %q is none", op, value.s)
	}
	return func(b []byte) bool {
		got, ok := parseDecimal(b)
		return ok && satisfies(got.compare(want), op)
	}, nil
}

func timeTerm(get func(*Item) int64, name, op string, value text) (term, error) {
	at, ok := parseTime(value.s)
	if !ok || op == ":" {
		return term{}, fmt.Errorf("%s is compared by < or > with a day such as 2026-11-01 or a time such as 2026-11-01T08:30:00Z", name)
	}
	return ordered(func(m *Item) (int64, bool) { n := get(m); return n, n != 0 }, op, at), nil
}

// ordered compares a number of the message, if it has one.
func ordered(get func(*Item) (int64, bool), op string, want int64) term {
	return term{holds: func(m *Item) bool {
		got, ok := get(m)
		switch {
		case !ok:
			return false
		case got < want:
			return satisfies(-1, op)
		case got > want:
			return satisfies(1, op)
		}
		return satisfies(0, op)
	}}
}

// satisfies reports whether the order of two values satisfies the operator.
func satisfies(order int, op string) bool {
	switch op {
	case ">":
		return order > 0
	case ">=":
		return order >= 0
	case "<":
		return order < 0
	case "<=":
		return order <= 0
	}
	return order == 0
}

// parseTime reads a day, or a time with or without its zone; without one it is in UTC.
func parseTime(s string) (int64, bool) {
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixMilli(), true
		}
	}
	return 0, false
}

// parseAge reads a duration, which may have days, and returns milliseconds.
func parseAge(s string) (int64, bool) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return int64(n) * 24 * time.Hour.Milliseconds(), err == nil
	}
	d, err := time.ParseDuration(s)
	return d.Milliseconds(), err == nil && d >= 0
}

func parseSize(s string) (int64, bool) {
	shift := 0
	for suffix, by := range map[string]int{"k": 10, "K": 10, "m": 20, "M": 20} {
		if rest, ok := strings.CutSuffix(s, suffix); ok {
			s, shift = rest, by
			break
		}
	}
	n, err := strconv.ParseUint(s, 10, 32)
	return int64(n) << shift, err == nil
}
