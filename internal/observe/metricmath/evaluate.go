package metricmath

import (
	"math"
	"strings"
)

// Env is what an expression is evaluated in.
type Env struct {
	// Start and End bound the window, in seconds since 1970; End is not in it.
	Start, End int64
	// Values are those of the ids that the expression names.
	Values map[string]Value
	// Metrics are the metrics of the request, which are not expressions, for METRICS.
	Metrics []Metric
	// Searches are what the searches of expressions have found, each a list.
	Searches map[*Search]Value

	spent int
}

// maxWork is how many samples the expressions of one Env may compute, intermediate ones included.
const maxWork = 20_000_000

// spend counts the samples of a value that was computed.
func (env *Env) spend(v Value) (Value, error) {
	for i := range v.Series {
		env.spent += 1 + len(v.Series[i].Samples)
	}
	if env.spent > maxWork {
		return Value{}, fault(0, "the expressions of the request take too long to compute; ask for fewer datapoints")
	}
	return v, nil
}

// Metric is a metric of a request.
type Metric struct {
	ID     string
	Series Series
}

// Evaluate returns the value of the expression. It notes in env how much work that was, which is bounded for all expressions
// together. The only error is an *Error.
func (e *Expression) Evaluate(env *Env) (Value, error) { return e.root.evaluate(env) }

// node is a part of an expression.
type node interface {
	evaluate(env *Env) (Value, error)
}

type constant float64

func (c constant) evaluate(*Env) (Value, error) { return number(float64(c)), nil }

// word is an argument of a function that is no value: a way to fill, a way to sort.
type word string

func (w word) evaluate(*Env) (Value, error) { return Value{}, fault(0, "%s is not a value", string(w)) }

type reference struct {
	id string
	at int
}

func (r *reference) evaluate(env *Env) (Value, error) {
	v, ok := env.Values[r.id]
	if !ok {
		return Value{}, fault(r.at, "there is no metric or expression with the id %q", r.id)
	}
	return v, nil
}

type metrics struct{ part string } // of the ids

func (m *metrics) evaluate(env *Env) (Value, error) {
	v := Value{Kind: List}
	for _, metric := range env.Metrics {
		if strings.Contains(metric.ID, m.part) {
			v.Series = append(v.Series, metric.Series)
		}
	}
	return v, nil
}

type array struct {
	at    int
	items []node
}

func (a *array) evaluate(env *Env) (Value, error) {
	out := Value{Kind: List}
	for _, item := range a.items {
		v, err := item.evaluate(env)
		if err != nil {
			return Value{}, err
		}
		if v.Kind != OneSeries {
			return Value{}, fault(a.at, "a list has time series, not %s", v.Kind)
		}
		out.Series = append(out.Series, v.Series[0])
	}
	return env.spend(out)
}

type operation struct {
	operator    string
	at          int
	left, right node
}

var operators = map[string]func(x, y float64) float64{
	"+": func(x, y float64) float64 { return x + y },
	"-": func(x, y float64) float64 { return x - y },
	"*": func(x, y float64) float64 { return x * y },
	"/": func(x, y float64) float64 { return x / y },
	"^": math.Pow,

	"==": truth(func(x, y float64) bool { return x == y }),
	"!=": truth(func(x, y float64) bool { return x != y }),
	"<":  truth(func(x, y float64) bool { return x < y }),
	"<=": truth(func(x, y float64) bool { return x <= y }),
	">":  truth(func(x, y float64) bool { return x > y }),
	">=": truth(func(x, y float64) bool { return x >= y }),
	"&&": truth(func(x, y float64) bool { return x != 0 && y != 0 }),
	"||": truth(func(x, y float64) bool { return x != 0 || y != 0 }),
}

// truth is an operator whose result is 1 where f holds and 0 where it does not. Of what is no value nothing is known.
func truth(f func(x, y float64) bool) func(x, y float64) float64 {
	return func(x, y float64) float64 {
		switch {
		case math.IsNaN(x) || math.IsNaN(y):
			return math.NaN()
		case f(x, y):
			return 1
		}
		return 0
	}
}

func (o *operation) evaluate(env *Env) (Value, error) {
	a, err := o.left.evaluate(env)
	if err != nil {
		return Value{}, err
	}
	b, err := o.right.evaluate(env)
	if err != nil {
		return Value{}, err
	}
	f := operators[o.operator]
	switch {
	case a.Kind == Number && b.Kind == Number:
		return number(f(a.Number, b.Number)), nil
	case b.Kind == Number:
		return env.spend(a.each(func(s *Series) Series { return s.each(func(x float64) float64 { return f(x, b.Number) }) }))
	case a.Kind == Number:
		return env.spend(b.each(func(s *Series) Series { return s.each(func(y float64) float64 { return f(a.Number, y) }) }))
	case a.Kind == List && b.Kind == List:
		return Value{}, fault(o.at, "the operator %q does not take two lists of time series", o.operator)
	case a.Kind == List:
		return env.spend(a.each(func(s *Series) Series { return both(s, &b.Series[0], f) }))
	}
	return env.spend(b.each(func(s *Series) Series {
		out := both(&a.Series[0], s, f)
		out.Label, out.Of = s.Label, s.Of
		return out
	}))
}

// each returns the value of which the series are what f makes of those of v, which is no number.
func (v Value) each(f func(*Series) Series) Value {
	out := Value{Kind: v.Kind, Series: make([]Series, len(v.Series))}
	for i := range v.Series {
		out.Series[i] = f(&v.Series[i])
	}
	return out
}
