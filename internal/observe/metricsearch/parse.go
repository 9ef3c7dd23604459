package metricsearch

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Bounds of searches.
const (
	// MaxLength is how many bytes a search can have.
	MaxLength = 1024
	// MaxSeries is how many series one search finds at most, the first in their order.
	MaxSeries = 500
	maxDepth  = 20
)

// Error says why a search cannot be read.
type Error struct {
	Position int // of the character at fault, from 1; 0 if it is no one character's
	Message  string
}

func (e *Error) Error() string {
	if e.Position == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s at character %d of the search", e.Message, e.Position)
}

// Parse reads a search. The only error is an *Error.
func Parse(text string) (*Query, error) {
	if len(text) > MaxLength {
		return nil, &Error{Message: fmt.Sprintf("a search has at most %d characters", MaxLength)}
	}
	p := parser{text: text}
	if err := p.next(); err != nil {
		return nil, err
	}
	q := new(Query)
	if p.is("{") {
		if err := p.schema(q); err != nil {
			return nil, err
		}
		if _, err := p.accept(","); err != nil { // as older documents have it
			return nil, err
		}
	}
	if p.kind != end {
		var err error
		if q.term, err = p.either(); err != nil {
			return nil, err
		}
	}
	switch {
	case p.kind != end:
		return nil, p.fault("unexpected %s", p.found())
	case q.term == nil && q.schema == nil:
		return nil, &Error{Message: "a search has a namespace in braces, or a term, or both"}
	}
	q.words = p.words
	return q, nil
}

type kind uint8

const (
	end kind = iota
	word
	quoted
	sign
)

// parser reads a search token by token.
type parser struct {
	text  string
	pos   int // behind the token, in bytes
	depth int
	words int // of the terms so far

	kind  kind
	token string // without its quotes
	at    int    // where it begins, in bytes
}

func (p *parser) fault(format string, args ...any) *Error {
	return &Error{Position: utf8.RuneCountInString(p.text[:p.at]) + 1, Message: fmt.Sprintf(format, args...)}
}

// found describes the token.
func (p *parser) found() string {
	if p.kind == end {
		return "the end"
	}
	return strconv.Quote(p.token)
}

const (
	space = " \t\r\n"
	signs = "{}(),="
)

// next goes on to the next token.
func (p *parser) next() error {
	for p.pos < len(p.text) && strings.IndexByte(space, p.text[p.pos]) >= 0 {
		p.pos++
	}
	p.at = p.pos
	if p.pos == len(p.text) {
		p.kind, p.token = end, ""
		return nil
	}
	switch c := p.text[p.pos]; {
	case strings.IndexByte(signs, c) >= 0:
		p.kind, p.token = sign, string(c)
		p.pos++
	case c == '"':
		return p.quotation()
	case c == '*' || c == '?':
		return p.fault("the placeholder %q is not supported: a term without quotes finds parts of names", c)
	default:
		n := strings.IndexAny(p.text[p.pos:], space+signs+`"*?`)
		if n < 0 {
			n = len(p.text) - p.pos
		}
		p.kind, p.token = word, p.text[p.pos:p.pos+n]
		p.pos += n
	}
	return nil
}

// quotation takes a text in double quotes. A backslash stands before one that is a part of it.
func (p *parser) quotation() error {
	var text strings.Builder
	for i := p.pos + 1; i < len(p.text); i++ {
		switch c := p.text[i]; {
		case c == '"':
			p.kind, p.token, p.pos = quoted, text.String(), i+1
			return nil
		case c == '\\' && i+1 < len(p.text) && (p.text[i+1] == '"' || p.text[i+1] == '\\'):
			i++
			text.WriteByte(p.text[i])
		default:
			text.WriteByte(c)
		}
	}
	return p.fault("a text begins that does not end")
}

func (p *parser) is(what string) bool { return p.kind == sign && p.token == what }

// accept takes the token if it is that sign or operator.
func (p *parser) accept(what string) (bool, error) {
	if p.kind != sign && p.kind != word || p.token != what {
		return false, nil
	}
	return true, p.next()
}

func (p *parser) expect(what string) error {
	ok, err := p.accept(what)
	if err == nil && !ok {
		return p.fault("expected %q, found %s", what, p.found())
	}
	return err
}

func (p *parser) schema(q *Query) error {
	if err := p.next(); err != nil {
		return err
	}
	for {
		if p.kind != word && p.kind != quoted {
			return p.fault("expected a namespace or the name of a dimension, found %s", p.found())
		}
		q.schema = append(q.schema, p.token)
		if err := p.next(); err != nil {
			return err
		}
		if more, err := p.accept(","); err != nil {
			return err
		} else if !more {
			return p.expect("}")
		}
	}
}

// either reads terms with OR between them.
func (p *parser) either() (term, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault("the search nests more than %d levels deep", maxDepth)
	}
	defer func() { p.depth-- }()
	var out anyOf
	for {
		t, err := p.all()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		if more, err := p.accept("OR"); err != nil {
			return nil, err
		} else if !more {
			return out, nil
		}
	}
}

// all reads terms with AND, or nothing, between them.
func (p *parser) all() (term, error) {
	var out allOf
	for {
		t, err := p.one()
		if err != nil {
			return nil, err
		}
		out = append(out, t)
		and, err := p.accept("AND")
		if err != nil {
			return nil, err
		}
		if !and && (p.kind == end || p.is(")") || p.kind == word && p.token == "OR") {
			return out, nil
		}
	}
}

func (p *parser) one() (term, error) {
	not, err := p.accept("NOT")
	if err != nil {
		return nil, err
	}
	if not {
		if p.depth++; p.depth > maxDepth {
			return nil, p.fault("the search nests more than %d levels deep", maxDepth)
		}
		defer func() { p.depth-- }()
		t, err := p.one()
		return notAny{t}, err
	}
	if ok, err := p.accept("("); err != nil {
		return nil, err
	} else if ok {
		t, err := p.either()
		if err != nil {
			return nil, err
		}
		return t, p.expect(")")
	}
	if p.kind != word && p.kind != quoted || isOperator(p) {
		return nil, p.fault("expected a term, found %s", p.found())
	}
	at, was, t := p.at, p.token, newText(p)
	if err := p.next(); err != nil {
		return nil, err
	}
	designates, err := p.accept("=")
	if err != nil || !designates {
		return t, err
	}
	if strings.HasPrefix(was, ":") {
		p.at = at
		return nil, p.fault("the property %.50s is not supported", was)
	}
	value, err := p.value()
	return of{was, value}, err
}

// value reads what stands behind a designator: a term, or several in brackets.
func (p *parser) value() (term, error) {
	if p.is("(") {
		return p.one()
	}
	if p.kind != word && p.kind != quoted || isOperator(p) {
		return nil, p.fault("expected a value, found %s", p.found())
	}
	t := newText(p)
	return t, p.next()
}

func isOperator(p *parser) bool {
	return p.kind == word && (p.token == "AND" || p.token == "OR" || p.token == "NOT")
}

// newText returns the term that the token is, and counts its words.
func newText(p *parser) term {
	p.words++
	if p.kind == quoted {
		return exactly(p.token)
	}
	t := newPart(p.token)
	p.words += len(t.words)
	return t
}
