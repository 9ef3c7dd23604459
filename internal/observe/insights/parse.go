package insights

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Error is the reason why a query is invalid.
type Error struct {
	Position int // of the character at fault, from 1; 0 if it is no one character's
	Message  string
}

func (e *Error) Error() string {
	if e.Position == 0 {
		return e.Message
	}
	return fmt.Sprintf("%s at character %d", e.Message, e.Position)
}

// Is reports whether an expression is a query rather than metric math.
func Is(text string) bool {
	fields := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(space, r) })
	return len(fields) > 0 && strings.EqualFold(fields[0], "SELECT")
}

const space = " \t\r\n"

// Parse parses a query. The only error is an *Error.
func Parse(text string) (*Query, error) {
	if len(text) > MaxLength {
		return nil, &Error{Message: fmt.Sprintf("a query has at most %d characters", MaxLength)}
	}
	p := parser{text: text}
	if err := p.next(); err != nil {
		return nil, err
	}
	q := &Query{Limit: MaxLimit}
	for _, read := range []func(*Query) error{p.selection, p.source, p.where, p.groupBy, p.orderBy, p.limit, p.end} {
		if err := read(q); err != nil {
			return nil, err
		}
	}
	return q, nil
}

type kind uint8

const (
	end kind = iota
	word
	name // in double quotes
	text // in single quotes
	sign
)

// parser reads a query token by token.
type parser struct {
	text string
	pos  int // behind the token, in bytes

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
	c := p.text[p.pos]
	switch {
	case isWord(c):
		for p.pos < len(p.text) && isWord(p.text[p.pos]) {
			p.pos++
		}
		p.kind, p.token = word, p.text[p.at:p.pos]
	case c == '"' || c == '\'':
		n := strings.IndexByte(p.text[p.pos+1:], c)
		if n < 0 {
			return p.fault("a text begins that does not end")
		}
		p.kind, p.token = name, p.text[p.pos+1:p.pos+1+n]
		if c == '\'' {
			p.kind = text
		}
		p.pos += n + 2
	case c == '!' && strings.HasPrefix(p.text[p.pos:], "!="):
		p.kind, p.token = sign, "!="
		p.pos += 2
	case strings.IndexByte("(),=", c) >= 0:
		p.kind, p.token = sign, string(c)
		p.pos++
	default:
		r, _ := utf8.DecodeRuneInString(p.text[p.pos:])
		return p.fault("unexpected %q", r)
	}
	return nil
}

func isWord(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.' || c == '/' || c == ':'
}

// accept takes the token if it is that keyword or sign.
func (p *parser) accept(what string) (bool, error) {
	if p.kind != word && p.kind != sign || !strings.EqualFold(p.token, what) {
		return false, nil
	}
	return true, p.next()
}

func (p *parser) expect(what string) error {
	ok, err := p.accept(what)
	if err == nil && !ok {
		return p.fault("expected %s, found %s", what, p.found())
	}
	return err
}

// identifier takes a name, which is in double quotes if it is no word.
func (p *parser) identifier(what string) (string, error) {
	if p.kind != word && p.kind != name || p.token == "" {
		return "", p.fault("expected %s, found %s", what, p.found())
	}
	taken := p.token
	return taken, p.next()
}

// statistic takes the name of a function and the bracket behind it.
func (p *parser) statistic() (Statistic, error) {
	if p.kind != word {
		return "", p.fault("expected AVG, COUNT, MAX, MIN or SUM, found %s", p.found())
	}
	s, ok := statistics[strings.ToUpper(p.token)]
	if !ok {
		return "", p.fault("the function %.50s is not supported; use AVG, COUNT, MAX, MIN or SUM", p.token)
	}
	if err := p.next(); err != nil {
		return "", err
	}
	return s, p.expect("(")
}

func (p *parser) selection(q *Query) (err error) {
	if err = p.expect("SELECT"); err != nil {
		return err
	}
	if q.Statistic, err = p.statistic(); err != nil {
		return err
	}
	if q.Metric, err = p.identifier("the name of a metric"); err != nil {
		return err
	}
	return p.expect(")")
}

func (p *parser) source(q *Query) error {
	if err := p.expect("FROM"); err != nil {
		return err
	}
	schema, err := p.accept("SCHEMA")
	if err != nil {
		return err
	}
	if !schema {
		q.Namespace, err = p.identifier("a namespace")
		return err
	}
	if err := p.expect("("); err != nil {
		return err
	}
	if q.Namespace, err = p.identifier("a namespace"); err != nil {
		return err
	}
	q.Schema = []string{}
	for {
		more, err := p.accept(",")
		if err != nil {
			return err
		}
		if !more {
			return p.expect(")")
		}
		dimension, err := p.identifier("the name of a dimension")
		if err != nil {
			return err
		}
		q.Schema = append(q.Schema, dimension)
	}
}

func (p *parser) where(q *Query) error {
	more, err := p.accept("WHERE")
	for more && err == nil {
		var c Condition
		if c.Dimension, err = p.identifier("the name of a dimension"); err != nil {
			return err
		}
		if c.Not, err = p.accept("!="); err != nil {
			return err
		}
		if !c.Not {
			if err := p.expect("="); err != nil {
				return err
			}
		}
		if p.kind != text {
			return p.fault("expected a value in single quotes, found %s", p.found())
		}
		c.Value = p.token
		if err := p.next(); err != nil {
			return err
		}
		q.Where = append(q.Where, c)
		more, err = p.accept("AND")
	}
	return err
}

func (p *parser) groupBy(q *Query) error {
	more, err := p.accept("GROUP")
	if !more || err != nil {
		return err
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	for more && err == nil {
		dimension, failed := p.identifier("the name of a dimension")
		if failed != nil {
			return failed
		}
		q.GroupBy = append(q.GroupBy, dimension)
		more, err = p.accept(",")
	}
	return err
}

func (p *parser) orderBy(q *Query) error {
	ordered, err := p.accept("ORDER")
	if !ordered || err != nil {
		return err
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	if q.Order, err = p.statistic(); err != nil {
		return err
	}
	if err := p.expect(")"); err != nil {
		return err
	}
	if q.Descending, err = p.accept("DESC"); err != nil || q.Descending {
		return err
	}
	_, err = p.accept("ASC")
	return err
}

func (p *parser) limit(q *Query) error {
	limited, err := p.accept("LIMIT")
	if !limited || err != nil {
		return err
	}
	n, parseErr := strconv.Atoi(p.token)
	if p.kind != word || parseErr != nil || n < 1 || n > MaxLimit {
		return p.fault("expected a limit from 1 to %d, found %s", MaxLimit, p.found())
	}
	q.Limit = n
	return p.next()
}

func (p *parser) end(*Query) error {
	if p.kind != end {
		return p.fault("unexpected %s", p.found())
	}
	return nil
}
