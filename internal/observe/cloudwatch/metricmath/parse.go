package metricmath

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// Bounds of expressions.
const (
	// MaxLength is how many bytes an expression can have.
	MaxLength = 2048
	maxDepth  = 50
)

// Expression is an expression that was read. It is safe for concurrent use.
type Expression struct {
	root     node
	ids      []string
	all      bool
	searches []*Search
	bands    []*Band
}

// Parse reads an expression. The only error is a *syntax.Error.
func Parse(text string) (*Expression, error) {
	if len(text) > MaxLength {
		return nil, fault(0, "an expression has at most %d characters", MaxLength)
	}
	p := parser{Cursor: language.Read(text)}
	if t, broken := p.Broken(); broken {
		return nil, p.Fault(t, "")
	}
	root, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if t := p.Peek(); t.Kind != syntax.End {
		return nil, p.Fault(t, "unexpected %s", t)
	}
	return &Expression{root: root, ids: p.ids, all: p.all, searches: p.searches, bands: p.bands}, nil
}

// IDs returns the ids that the expression names, in the order of their first use.
func (e *Expression) IDs() []string { return e.ids }

// UsesAll reports whether the expression has METRICS, and so may refer to metrics that it does not name.
func (e *Expression) UsesAll() bool { return e.all }

// Searches returns the searches that the expression has, from left to right.
func (e *Expression) Searches() []*Search { return e.searches }

type parser struct {
	syntax.Cursor
	depth    int
	ids      []string
	all      bool
	searches []*Search
	bands    []*Band
}

// enter notes that something nests; leave that it has ended.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return fault(p.Peek().At+1, "the expression nests more than %d levels deep", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// levels are the operators between two operands, those that bind loosest first. Operators of one level are evaluated
// from the left, except for powers.
var levels = [][]string{
	{"OR", "||"}, {"AND", "&&"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/"}, {"^"},
}

// operator returns the name of an operator in operators.
func operator(t syntax.Token) string {
	switch t.Text {
	case "OR":
		return "||"
	case "AND":
		return "&&"
	}
	return t.Text
}

// binary reads operands and the operators of a level between them.
func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		t := p.Peek()
		if !slices.ContainsFunc(levels[level], t.Is) {
			return left, nil
		}
		p.Next()
		of := level + 1
		if t.Is("^") { // 2^3^2 is 2^(3^2)
			of = level
		}
		var right node
		if right, err = p.binary(of); err == nil {
			left = &operation{operator(t), t.At + 1, left, right}
		}
	}
	return nil, err
}

func (p *parser) unary() (node, error) {
	if t := p.Peek(); p.Accept("-") {
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		of, err := p.binary(len(levels) - 1) // -2^2 is -(2^2)
		if err != nil {
			return nil, err
		}
		return &operation{"-", t.At + 1, constant(0), of}, nil
	}
	return p.primary()
}

func (p *parser) primary() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.Next()
	switch {
	case t.Kind == syntax.Number:
		v, err := valueOf(t)
		return constant(v), err
	case t.Kind == syntax.Word && p.Peek().Is("("):
		return p.call(t)
	case t.Kind == syntax.Word && t.Text[0] >= 'a' && t.Text[0] <= 'z':
		if !slices.Contains(p.ids, t.Text) {
			p.ids = append(p.ids, t.Text)
		}
		return &reference{t.Text, t.At + 1}, nil
	case t.Kind == syntax.Word:
		return nil, p.Fault(t, "%s is neither a function with its arguments nor an id, which begins with a lowercase letter", t)
	case t.Kind == syntax.Quoted:
		return nil, p.Fault(t, "a text can only be an argument of METRICS or SEARCH")
	case t.Is("("):
		inner, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		return inner, p.Expect(")")
	case t.Is("["):
		items, err := p.list("]")
		if err != nil {
			return nil, err
		}
		return &array{t.At + 1, items}, nil
	}
	return nil, p.Fault(t, "expected a value, found %s", t)
}

// list reads expressions with commas between them, up to the sign that ends the list.
func (p *parser) list(end string) ([]node, error) {
	var out []node
	for {
		n, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
		if p.Accept(end) {
			return out, nil
		}
		if t := p.Peek(); !p.Accept(",") {
			return nil, p.Fault(t, "expected a comma or %q, found %s", end, t)
		}
	}
}

// onlyOnAWS are the functions that AWS has and this package lacks.
var onlyOnAWS = []string{"DB_PERF_INSIGHTS", "INSIGHT_RULE_METRIC", "LAMBDA", "SERVICE_QUOTA", "SLO"}

// unknownFunction refuses a function.
func unknownFunction(name syntax.Token) *syntax.Error {
	e := fault(name.At+1, "the function %.50s is not supported", name.Text)
	if !slices.Contains(onlyOnAWS, name.Text) {
		e.AWS = fmt.Sprintf("Function '%.50s' not found", name.Text)
	}
	return e
}

// call reads the arguments of a function.
func (p *parser) call(name syntax.Token) (node, error) {
	p.Next()
	f, known := functions[name.Text]
	switch {
	case name.Text == "METRICS":
		return p.metrics()
	case name.Text == "SEARCH":
		return p.search(name)
	case name.Text == "ANOMALY_DETECTION_BAND":
		return p.band(name)
	case !known:
		return nil, unknownFunction(name)
	}
	c := &call{name: name.Text, at: name.At + 1, function: f}
	for !p.Peek().Is(")") {
		if len(c.args) > 0 {
			if err := p.Expect(","); err != nil {
				return nil, err
			}
		}
		if w, ok := f.words[len(c.args)]; ok {
			t := p.Peek()
			if t.Kind == syntax.Word && slices.Contains(w.all, t.Text) {
				p.Next()
				c.args = append(c.args, word(t.Text))
				continue
			}
			if w.only {
				return nil, fault(t.At+1, "%s takes one of %s here, not %s", name.Text, strings.Join(w.all, ", "), t)
			}
		}
		arg, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		if c.args = append(c.args, arg); len(c.args) > f.most {
			break
		}
	}
	if len(c.args) < f.least || len(c.args) > f.most {
		return nil, fault(name.At+1, "%s takes %s", name.Text, f.takes())
	}
	return c, p.Expect(")")
}

// metrics reads the argument of METRICS, which it may not have.
func (p *parser) metrics() (node, error) {
	m := &metrics{}
	if t := p.Peek(); t.Kind == syntax.Quoted {
		p.Next()
		m.part = t.Text
	}
	p.all = true
	return m, p.Expect(")")
}
