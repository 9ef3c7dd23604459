package metricmath

import (
	"fmt"
	"slices"
	"strings"
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
}

// Parse reads an expression. The only error is an *Error.
func Parse(text string) (*Expression, error) {
	if len(text) > MaxLength {
		return nil, fault(0, "an expression has at most %d characters", MaxLength)
	}
	tokens, err := scan(text)
	if err != nil {
		return nil, err
	}
	p := parser{tokens: tokens}
	root, err := p.binary(0)
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != endToken {
		return nil, syntax(t.at, "unexpected %s", t)
	}
	return &Expression{root: root, ids: p.ids, all: p.all, searches: p.searches}, nil
}

// IDs returns the ids that the expression names, in the order in which they first come.
func (e *Expression) IDs() []string { return e.ids }

// UsesAll reports whether the expression has METRICS, and so may refer to metrics that it does not name.
func (e *Expression) UsesAll() bool { return e.all }

// Searches returns the searches that the expression has, from left to right.
func (e *Expression) Searches() []*Search { return e.searches }

type parser struct {
	tokens   []token // the last one is the end
	depth    int
	ids      []string
	all      bool
	searches []*Search
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) take() token {
	t := p.tokens[0]
	if t.kind != endToken {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept takes the next token if it is that sign.
func (p *parser) accept(sign string) bool {
	t := p.peek()
	if t.kind == signToken && t.text == sign {
		p.take()
		return true
	}
	return false
}

func (p *parser) expect(sign string) error {
	if t := p.peek(); !p.accept(sign) {
		return syntax(t.at, "expected %q, found %s", sign, t)
	}
	return nil
}

// enter notes that something nests; leave that it has ended.
func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return fault(p.peek().at, "the expression nests more than %d levels deep", maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }

// levels are the operators between two operands, those that bind loosest first. Of one level the left one comes first,
// but for powers.
var levels = [][]string{
	{"OR", "||"}, {"AND", "&&"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/"}, {"^"},
}

// operator returns how an operator is called in operators.
func operator(t token) string {
	switch t.text {
	case "OR":
		return "||"
	case "AND":
		return "&&"
	}
	return t.text
}

// binary reads operands and the operators of a level between them.
func (p *parser) binary(level int) (node, error) {
	if level == len(levels) {
		return p.unary()
	}
	left, err := p.binary(level + 1)
	for err == nil {
		t := p.peek()
		if t.kind != signToken && t.kind != nameToken || !slices.Contains(levels[level], t.text) {
			return left, nil
		}
		p.take()
		of := level + 1
		if t.text == "^" { // 2^3^2 is 2^(3^2)
			of = level
		}
		var right node
		if right, err = p.binary(of); err == nil {
			left = &operation{operator(t), t.at, left, right}
		}
	}
	return nil, err
}

func (p *parser) unary() (node, error) {
	if t := p.peek(); p.accept("-") {
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		of, err := p.binary(len(levels) - 1) // -2^2 is -(2^2)
		if err != nil {
			return nil, err
		}
		return &operation{"-", t.at, constant(0), of}, nil
	}
	return p.primary()
}

func (p *parser) primary() (node, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t := p.take()
	switch {
	case t.kind == numberToken:
		return constant(t.number), nil
	case t.kind == nameToken && p.peek().kind == signToken && p.peek().text == "(":
		return p.call(t)
	case t.kind == nameToken && t.text[0] >= 'a' && t.text[0] <= 'z':
		if !slices.Contains(p.ids, t.text) {
			p.ids = append(p.ids, t.text)
		}
		return &reference{t.text, t.at}, nil
	case t.kind == nameToken:
		return nil, syntax(t.at, "%s is neither a function with its arguments nor an id, which begins with a lowercase letter", t)
	case t.kind == textToken:
		return nil, syntax(t.at, "a text can only be an argument of METRICS or SEARCH")
	case t.kind == signToken && t.text == "(":
		inner, err := p.binary(0)
		if err != nil {
			return nil, err
		}
		return inner, p.expect(")")
	case t.kind == signToken && t.text == "[":
		items, err := p.list("]")
		if err != nil {
			return nil, err
		}
		return &array{t.at, items}, nil
	}
	return nil, syntax(t.at, "expected a value, found %s", t)
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
		if p.accept(end) {
			return out, nil
		}
		if t := p.peek(); !p.accept(",") {
			return nil, syntax(t.at, "expected a comma or %q, found %s", end, t)
		}
	}
}

// onlyOnAWS are the functions that AWS has and this package has not.
var onlyOnAWS = []string{"ANOMALY_DETECTION_BAND", "DB_PERF_INSIGHTS", "INSIGHT_RULE_METRIC", "LAMBDA", "SERVICE_QUOTA", "SLO"}

// unknownFunction refuses a function.
func unknownFunction(name token) *Error {
	e := fault(name.at, "the function %.50s is not supported", name.text)
	if !slices.Contains(onlyOnAWS, name.text) {
		e.AWS = fmt.Sprintf("Function '%.50s' not found", name.text)
	}
	return e
}

// call reads the arguments of a function.
func (p *parser) call(name token) (node, error) {
	p.take()
	f, known := functions[name.text]
	switch {
	case name.text == "METRICS":
		return p.metrics(name)
	case name.text == "SEARCH":
		return p.search(name)
	case !known:
		return nil, unknownFunction(name)
	}
	c := &call{name: name.text, at: name.at, function: f}
	for p.peek().text != ")" || p.peek().kind != signToken {
		if len(c.args) > 0 {
			if err := p.expect(","); err != nil {
				return nil, err
			}
		}
		if w, ok := f.words[len(c.args)]; ok {
			t := p.peek()
			if t.kind == nameToken && slices.Contains(w.all, t.text) {
				p.take()
				c.args = append(c.args, word(t.text))
				continue
			}
			if w.only {
				return nil, fault(t.at, "%s takes one of %s here, not %s", name.text, strings.Join(w.all, ", "), t)
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
		return nil, fault(name.at, "%s takes %s", name.text, f.takes())
	}
	return c, p.expect(")")
}

// metrics reads the argument of METRICS, which it may not have.
func (p *parser) metrics(name token) (node, error) {
	m := &metrics{}
	if t := p.peek(); t.kind == textToken {
		p.take()
		m.part = t.text
	}
	p.all = true
	return m, p.expect(")")
}
