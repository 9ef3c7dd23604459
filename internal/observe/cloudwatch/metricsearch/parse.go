package metricsearch

import (
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// Bounds of searches.
const (
	// MaxLength is how many bytes a search can have.
	MaxLength = 1024
	// MaxSeries is how many series one search finds at most, the first in their order.
	MaxSeries = 500
	maxDepth  = 20
)

// language has the tokens of searches. The placeholders of other searches begin no token.
var language = syntax.Language{
	Space:   syntax.Blank,
	Marks:   `"`,
	Escapes: true,
	Signs:   []string{"{", "}", "(", ")", ",", "="},
	Word:    func(r rune) bool { return r != '*' && r != '?' },
	Stray:   "the placeholder %q is not supported: a term without quotes finds parts of names",
	Within:  "of the search",
}

// Parse reads a search. The only error is a *syntax.Error.
func Parse(text string) (*Query, error) {
	if len(text) > MaxLength {
		return nil, syntax.NewError(0, "a search has at most %d characters", MaxLength)
	}
	p := parser{Cursor: language.Read(text)}
	q := new(Query)
	if p.Accept("{") {
		if err := p.schema(q); err != nil {
			return nil, err
		}
		p.Accept(",") // as older documents have it
	}
	if p.Peek().Kind != syntax.End {
		var err error
		if q.term, err = p.either(); err != nil {
			return nil, err
		}
	}
	switch t := p.Peek(); {
	case t.Kind != syntax.End:
		return nil, p.Fault(t, "unexpected %s", t)
	case q.term == nil && q.schema == nil:
		return nil, syntax.NewError(0, "a search has a namespace in braces, or a term, or both")
	}
	q.words = p.words
	return q, nil
}

type parser struct {
	syntax.Cursor
	depth int
	words int // of the terms so far
}

// schema reads the text between braces.
func (p *parser) schema(q *Query) error {
	for {
		t := p.Next()
		if t.Kind != syntax.Word && t.Kind != syntax.Quoted {
			return p.Fault(t, "expected a namespace or the name of a dimension, found %s", t)
		}
		q.schema = append(q.schema, t.Text)
		if !p.Accept(",") {
			return p.Expect("}")
		}
	}
}

// enter notes that something nests; leave that it has ended.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return p.Fault(p.Peek(), "the search nests more than %d levels deep", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// either reads terms with OR between them.
func (p *parser) either() (term, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var out anyOf
	for {
		t, err := p.all()
		if err != nil {
			return nil, err
		}
		if out = append(out, t); !p.Accept("OR") {
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
		if next := p.Peek(); !p.Accept("AND") && (next.Kind == syntax.End || next.Is(")") || next.Is("OR")) {
			return out, nil
		}
	}
}

func (p *parser) one() (term, error) {
	switch {
	case p.Accept("NOT"):
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		t, err := p.one()
		return notAny{t}, err
	case p.Accept("("):
		t, err := p.either()
		if err != nil {
			return nil, err
		}
		return t, p.Expect(")")
	}
	name := p.Peek()
	t, err := p.text("a term")
	if err != nil || !p.Accept("=") {
		return t, err
	}
	if strings.HasPrefix(name.Text, ":") {
		return nil, p.Fault(name, "the property %.50s is not supported", name.Text)
	}
	value, err := p.value()
	return of{name.Text, value}, err
}

// value reads the value behind a designator: a term, or several in brackets.
func (p *parser) value() (term, error) {
	if p.Peek().Is("(") {
		return p.one()
	}
	return p.text("a value")
}

// text reads a word or a quotation, and counts its words.
func (p *parser) text(what string) (term, error) {
	t := p.Next()
	if t.Kind != syntax.Word && t.Kind != syntax.Quoted || t.Is("AND") || t.Is("OR") || t.Is("NOT") {
		return nil, p.Fault(t, "expected %s, found %s", what, t)
	}
	p.words++
	if t.Kind == syntax.Quoted {
		return exactly(t.Text), nil
	}
	part := newPart(t.Text)
	p.words += len(part.words)
	return part, nil
}
