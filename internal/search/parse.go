package search

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error describes a mistake in a filter and its place.
type Error struct {
	Column int // of the term, counted from 1, in characters
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("column %d: %s", e.Column, e.Reason) }

// Parse parses a filter. The error is an *Error.
func Parse(filter string) (*Query, error) {
	if len(filter) > MaxLength {
		return nil, &Error{1, fmt.Sprintf("the filter has %d bytes; it may have %d", len(filter), MaxLength)}
	}
	if !utf8.ValidString(filter) {
		return nil, &Error{1, "the filter is not UTF-8"}
	}
	q := new(Query)
	for rest := filter; ; {
		rest = strings.TrimLeftFunc(rest, unicode.IsSpace)
		if rest == "" {
			return q, nil
		}
		column := utf8.RuneCountInString(filter[:len(filter)-len(rest)]) + 1
		if len(q.terms) == maxTerms {
			return nil, &Error{column, fmt.Sprintf("there are more than %d terms", maxTerms)}
		}
		s := scanner{rest: rest}
		t, err := s.term()
		if err != nil {
			return nil, &Error{column, err.Error()}
		}
		q.terms = append(q.terms, t)
		rest = s.rest
	}
}

// text is a piece of a filter. Asterisks are wildcards only outside quotes.
type text struct {
	s      string
	quoted bool
}

// scanner divides a term into its pieces.
type scanner struct{ rest string }

func (s *scanner) term() (term, error) {
	rest, not := strings.CutPrefix(s.rest, "-")
	s.rest = rest
	name, err := s.name()
	if err != nil {
		return term{}, err
	}
	op := s.operator()
	if op == "" {
		t, err := word(name)
		t.not = not
		return t, err
	}
	value, err := s.value()
	if err != nil {
		return term{}, err
	}
	t, err := field(name, op, value)
	t.not = not
	return t, err
}

// name takes the name before an operator: steps with dots between them.
func (s *scanner) name() ([]text, error) {
	var steps []text
	for {
		step, err := s.piece(".:<>")
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
		if len(steps) > maxSteps+1 {
			return nil, fmt.Errorf("a path has at most %d steps; put a text in quotes", maxSteps)
		}
		rest, more := strings.CutPrefix(s.rest, ".")
		if !more {
			return steps, nil
		}
		s.rest = rest
	}
}

// operator takes an operator, if there is one.
func (s *scanner) operator() string {
	for _, op := range []string{":", ">=", "<=", ">", "<"} {
		if rest, ok := strings.CutPrefix(s.rest, op); ok {
			s.rest = rest
			return op
		}
	}
	return ""
}

func (s *scanner) value() (text, error) {
	v, err := s.piece("")
	if err == nil && v == (text{}) {
		err = fmt.Errorf(`there is no value; write "" for an empty one`)
	}
	return v, err
}

// piece takes a text in quotes, or one that ends before a space or one of the stops.
func (s *scanner) piece(stops string) (text, error) {
	if !strings.HasPrefix(s.rest, `"`) {
		end := strings.IndexFunc(s.rest, func(r rune) bool {
			return unicode.IsSpace(r) || strings.ContainsRune(stops, r)
		})
		if end < 0 {
			end = len(s.rest)
		}
		t := text{s: s.rest[:end]}
		if strings.Contains(t.s, `"`) {
			return t, fmt.Errorf(`a quote is in the middle of %s; it must be around all of it`, t.s)
		}
		s.rest = s.rest[end:]
		return t, nil
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch c := s.rest[i]; {
		case c == '"':
			s.rest = s.rest[i+1:]
			if r, _ := utf8.DecodeRuneInString(s.rest); s.rest != "" && !unicode.IsSpace(r) &&
				(stops == "" || !strings.ContainsRune(stops, r)) {
				return text{}, fmt.Errorf("there must be a space behind a text in quotes")
			}
			return text{b.String(), true}, nil
		case c == '\\' && i+1 < len(s.rest) && (s.rest[i+1] == '"' || s.rest[i+1] == '\\'):
			i++
			b.WriteByte(s.rest[i])
		case c == '\\':
			return text{}, fmt.Errorf(`a backslash in quotes must be before a quote or a backslash`)
		default:
			b.WriteByte(c)
		}
	}
	return text{}, fmt.Errorf("a quote is not closed")
}
