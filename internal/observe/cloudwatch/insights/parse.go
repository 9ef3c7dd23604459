package insights

import (
	"strconv"
	"strings"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/syntax"
)

// language has the tokens of queries. Names are in double quotes if they are no words, and values in single ones.
var language = syntax.Language{
	Space:   syntax.Blank,
	Marks:   `"'`,
	Signs:   []string{"!=", "(", ")", ",", "="},
	Word:    isWord,
	AnyCase: true,
}

func isWord(r rune) bool {
	return r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:", r)
}

// Is reports whether an expression is a query rather than metric math.
func Is(text string) bool {
	fields := strings.FieldsFunc(text, syntax.Blank)
	return len(fields) > 0 && strings.EqualFold(fields[0], "SELECT")
}

// Parse parses a query. The only error is a *syntax.Error.
func Parse(text string) (*Query, error) {
	if len(text) > MaxLength {
		return nil, syntax.NewError(0, "a query has at most %d characters", MaxLength)
	}
	p := parser{language.Read(text)}
	q := &Query{Limit: MaxLimit}
	for _, read := range []func(*Query) error{p.selection, p.source, p.where, p.groupBy, p.orderBy, p.limit, p.end} {
		if err := read(q); err != nil {
			return nil, err
		}
	}
	return q, nil
}

type parser struct{ syntax.Cursor }

// expect takes a keyword or sign that must be there.
func (p *parser) expect(what string) error {
	if t := p.Peek(); !p.Accept(what) {
		return p.Fault(t, "expected %s, found %s", what, t)
	}
	return nil
}

// identifier takes a name, which is in double quotes if it is no word.
func (p *parser) identifier(what string) (string, error) {
	t := p.Next()
	if t.Kind != syntax.Word && t.Mark != '"' || t.Text == "" {
		return "", p.Fault(t, "expected %s, found %s", what, t)
	}
	return t.Text, nil
}

// statistic takes the name of a function and the bracket behind it.
func (p *parser) statistic() (Statistic, error) {
	t := p.Next()
	if t.Kind != syntax.Word {
		return "", p.Fault(t, "expected AVG, COUNT, MAX, MIN or SUM, found %s", t)
	}
	s, ok := statistics[strings.ToUpper(t.Text)]
	if !ok {
		return "", p.Fault(t, "the function %.50s is not supported; use AVG, COUNT, MAX, MIN or SUM", t.Text)
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

func (p *parser) source(q *Query) (err error) {
	if err := p.expect("FROM"); err != nil {
		return err
	}
	if !p.Accept("SCHEMA") {
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
	for p.Accept(",") {
		dimension, err := p.identifier("the name of a dimension")
		if err != nil {
			return err
		}
		q.Schema = append(q.Schema, dimension)
	}
	return p.expect(")")
}

func (p *parser) where(q *Query) error {
	for more := p.Accept("WHERE"); more; more = p.Accept("AND") {
		c, err := p.condition()
		if err != nil {
			return err
		}
		q.Where = append(q.Where, c)
	}
	return nil
}

func (p *parser) condition() (c Condition, err error) {
	if c.Dimension, err = p.identifier("the name of a dimension"); err != nil {
		return c, err
	}
	if c.Not = p.Accept("!="); !c.Not {
		if err := p.expect("="); err != nil {
			return c, err
		}
	}
	t := p.Next()
	if t.Mark != '\'' {
		return c, p.Fault(t, "expected a value in single quotes, found %s", t)
	}
	c.Value = t.Text
	return c, nil
}

func (p *parser) groupBy(q *Query) error {
	if !p.Accept("GROUP") {
		return nil
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	for more := true; more; more = p.Accept(",") {
		dimension, err := p.identifier("the name of a dimension")
		if err != nil {
			return err
		}
		q.GroupBy = append(q.GroupBy, dimension)
	}
	return nil
}

func (p *parser) orderBy(q *Query) (err error) {
	if !p.Accept("ORDER") {
		return nil
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
	if q.Descending = p.Accept("DESC"); !q.Descending {
		p.Accept("ASC")
	}
	return nil
}

func (p *parser) limit(q *Query) error {
	if !p.Accept("LIMIT") {
		return nil
	}
	t := p.Next()
	n, err := strconv.Atoi(t.Text)
	if t.Kind != syntax.Word || err != nil || n < 1 || n > MaxLimit {
		return p.Fault(t, "expected a limit from 1 to %d, found %s", MaxLimit, t)
	}
	q.Limit = n
	return nil
}

func (p *parser) end(*Query) error {
	if t := p.Peek(); t.Kind != syntax.End {
		return p.Fault(t, "unexpected %s", t)
	}
	return nil
}
