package alarmrule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/alarm"
	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// Limits of a rule.
const (
	// MaxChildren is how many different alarms a rule can name.
	MaxChildren = 100
	// MaxElements is how many elements a rule can have: names of alarms, TRUE, FALSE, and pairs of parentheses that
	// group. It bounds how deep the parser descends.
	MaxElements = 500
)

// Error is the reason why a text is not a rule.
type Error struct{ Reason string }

func (e *Error) Error() string { return e.Reason }

func failed(at int, what string) *Error { return &Error{fmt.Sprintf("%s at char %d", what, at)} }

// Parse reads a rule. Its error is an *Error.
func Parse(text string) (*Expression, error) {
	p := &parser{Cursor: language.Read(text)}
	if t, broken := p.Broken(); broken { // all characters begin a token, but a quotation has to end
		return nil, failed(t.At, "Unterminated quotation mark")
	}
	root, err := p.anyOf()
	if err != nil {
		return nil, err
	}
	if end := p.Next(); end.Kind != syntax.End {
		return nil, unsupported(end, "'AND', 'OR'")
	}
	return &Expression{root, p.children}, nil
}

// parser descends into an expression, one token after the other.
type parser struct {
	syntax.Cursor
	elements int
	children []string
}

// expect takes a sign that must be there.
func (p *parser) expect(sign string) error {
	if t := p.Next(); !t.Is(sign) {
		return unsupported(t, "'"+sign+"'")
	}
	return nil
}

// maxShown is how much of a token an error repeats.
const maxShown = 100

// unsupported refuses a token where another is required.
func unsupported(t syntax.Token, must string) *Error {
	if t.Kind == syntax.End {
		return failed(t.At, "Unexpected end of rule, must be: "+must+",")
	}
	shown := []rune(t.Text)
	if len(shown) > maxShown {
		shown = append(shown[:maxShown], []rune("...")...)
	}
	return &Error{fmt.Sprintf("Unsupported token '%s' at char %d, must be: %s", string(shown), t.At, must)}
}

// element counts an element of the rule.
func (p *parser) element(at int) error {
	if p.elements++; p.elements > MaxElements {
		return failed(at, fmt.Sprintf("A rule can have at most %d elements; there is one too many", MaxElements))
	}
	return nil
}

func (p *parser) anyOf() (node, error) {
	return p.joined("OR", func() (node, error) {
		return p.joined("AND", p.operand, func(all []node) node { return allOf(all) })
	}, func(some []node) node { return anyOf(some) })
}

// joined reads operands with an operator between them.
func (p *parser) joined(operator string, read func() (node, error), join func([]node) node) (node, error) {
	var all []node
	for {
		n, err := read()
		if err != nil {
			return nil, err
		}
		all = append(all, n)
		if !p.Accept(operator) {
			break
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	return join(all), nil
}

func (p *parser) operand() (node, error) {
	negative := false
	for p.Accept("NOT") {
		negative = !negative
	}
	n, err := p.primary()
	if err == nil && negative {
		n = not{n}
	}
	return n, err
}

// operands is what an operand can begin with.
const operands = "'(', 'NOT', AT_LEAST, TRUE or FALSE, ALARM, OK, or INSUFFICIENT_DATA"

var states = []string{string(alarm.Alarm), string(alarm.OK), string(alarm.Insufficient)}

func (p *parser) primary() (node, error) {
	t := p.Next()
	switch {
	case t.Is("("):
		return p.group(t)
	case t.Is("AT_LEAST"):
		return p.atLeast()
	case t.Kind == syntax.Word && slices.Contains(states, t.Text):
		return p.is(alarm.State(t.Text))
	case t.Kind == syntax.Word && (strings.EqualFold(t.Text, "TRUE") || strings.EqualFold(t.Text, "FALSE")):
		return constant(strings.EqualFold(t.Text, "TRUE")), p.element(t.At)
	}
	return nil, unsupported(t, operands)
}

// group reads an expression behind an opening parenthesis.
func (p *parser) group(opening syntax.Token) (node, error) {
	if err := p.element(opening.At); err != nil {
		return nil, err
	}
	n, err := p.anyOf()
	if err != nil {
		return nil, err
	}
	return n, p.expect(")")
}

// is reads the alarm of a state.
func (p *parser) is(state alarm.State) (node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	child, err := p.child()
	if err != nil {
		return nil, err
	}
	return is{state, child}, p.expect(")")
}

// child reads the name or ARN of an alarm.
func (p *parser) child() (string, error) {
	t := p.Next()
	if t.Text == "" || t.Kind == syntax.Sign {
		return "", unsupported(t, "the name or ARN of an alarm")
	}
	if !slices.Contains(p.children, t.Text) {
		p.children = append(p.children, t.Text)
	}
	if len(p.children) > MaxChildren {
		return "", failed(t.At, fmt.Sprintf("A rule can name at most %d alarms; there is one too many", MaxChildren))
	}
	return t.Text, p.element(t.At)
}

// atLeast reads what follows AT_LEAST: (2, NOT OK, (a, b, c)).
func (p *parser) atLeast() (node, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	number := p.Next()
	if err := p.expect(","); err != nil {
		return nil, err
	}
	a := atLeast{not: p.Accept("NOT")}
	state := p.Next()
	if state.Kind != syntax.Word || !slices.Contains(states, state.Text) {
		return nil, unsupported(state, "ALARM, OK, or INSUFFICIENT_DATA")
	}
	a.state = alarm.State(state.Text)
	if err := p.expect(","); err != nil {
		return nil, err
	}
	var err error
	if a.children, err = p.list(); err != nil {
		return nil, err
	}
	if a.least, err = leastOf(number, len(a.children)); err != nil {
		return nil, err
	}
	return a, p.expect(")")
}

// list reads alarms in parentheses.
func (p *parser) list() (children []string, err error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	for {
		child, err := p.child()
		if err != nil {
			return nil, err
		}
		children = append(children, child)
		if !p.Accept(",") {
			return children, p.expect(")")
		}
	}
}

// leastOf returns how many of n alarms a number or a percentage is.
func leastOf(t syntax.Token, n int) (int, error) {
	digits, percent := strings.CutSuffix(t.Text, "%")
	number, err := strconv.ParseUint(digits, 10, 16)
	most := n
	if percent {
		most = 100
	}
	if err != nil || t.Kind != syntax.Word || number < 1 || int(number) > most {
		return 0, unsupported(t, fmt.Sprintf("a number from 1 to %d, or a percentage from 1%% to 100%%", n))
	}
	if percent {
		return (int(number)*n + 99) / 100, nil
	}
	return int(number), nil
}
