package metricmath

import (
	"math"
	"strings"
	"unsafe"
)

// Env is the environment of an evaluation.
type Env struct {
	// Start and End limit the window, in seconds since 1970; End is exclusive.
	Start, End int64
	// Period is the period of series made from numbers, in seconds: the longest of the request.
	Period int64
	// Values holds the values of the ids in the expression.
	Values map[string]Value
	// Metrics holds the metrics of the request, without expressions, in its order, for METRICS.
	Metrics []Metric
	// Searches holds the results of the expressions' searches, each a list.
	Searches map[*Search]Value
	// Bands holds the edges of the expressions' bands, each a list of the lower and the upper one.
	Bands map[*Band]Value
	// Meter limits the computation. A nil Meter sets no limits.
	Meter Meter
}

// Meter counts the work before it is done. Its errors end the evaluation.
type Meter interface {
	Work(samples int) error
	Hold(bytes int) error
}

// Bytes of memory.
const (
	seriesBytes = int(unsafe.Sizeof(Series{}))
	sampleBytes = int(unsafe.Sizeof(Sample{}))
)

// spend counts a value with that many series and samples before it is computed.
func (env *Env) spend(series, samples int) error {
	if env.Meter == nil {
		return nil
	}
	if err := env.Meter.Work(series + samples); err != nil {
		return err
	}
	return env.Meter.Hold(series*seriesBytes + samples*sampleBytes)
}

// spendOn counts a value with at most the samples of v.
func (env *Env) spendOn(v Value) error { return env.spend(len(v.Series), v.samples()) }

// spendOnWindow counts a value that has series like those of v, and a sample in each period of the window.
func (env *Env) spendOnWindow(v Value) error {
	samples := 0
	for i := range v.Series {
		samples += env.periods(v.Series[i].Period)
	}
	return env.spend(len(v.Series), samples)
}

// periods returns how many periods of the given number of seconds begin in the window.
func (env *Env) periods(period int64) int {
	if env.Start >= env.End || period <= 0 {
		return 0
	}
	return int((env.End-env.Start-1)/period) + 1
}

// Metric is a metric of a request.
type Metric struct {
	ID     string
	Series Series
}

// Evaluate returns the value of the expression. An error is an *Error or one of env.Meter. By then the Meter has
// counted at least the memory of the value, except for what was already in env.
func (e *Expression) Evaluate(env *Env) (Value, error) { return e.root.evaluate(env) }

// node is a part of an expression.
type node interface {
	evaluate(env *Env) (Value, error)
}

type constant float64

func (c constant) evaluate(*Env) (Value, error) { return number(float64(c)), nil }

// word is an argument of a function that is not a value: a way to fill, or to sort.
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
	if err := env.spend(len(env.Metrics), 0); err != nil {
		return Value{}, err
	}
	v := Value{Kind: List, Series: make([]Series, 0, len(env.Metrics))}
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
	if err := env.spend(len(a.items), 0); err != nil {
		return Value{}, err
	}
	out := Value{Kind: List, Series: make([]Series, 0, len(a.items))}
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
	return out, nil
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

// truth is an operator whose result is 1 where f holds and 0 elsewhere. It has no result where an operand has no value.
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
	case a.Kind == List && b.Kind == List:
		return Value{}, fault(o.at, "the operator %q does not take two lists of time series", o.operator)
	}
	if err := o.spend(env, a, b); err != nil {
		return Value{}, err
	}
	switch {
	case b.Kind == Number:
		return a.each(func(s *Series) Series { return s.each(func(x float64) float64 { return f(x, b.Number) }) }), nil
	case a.Kind == Number:
		return b.each(func(s *Series) Series { return s.each(func(y float64) float64 { return f(a.Number, y) }) }), nil
	case a.Kind == List:
		return a.each(func(s *Series) Series { return both(s, &b.Series[0], f) }), nil
	}
	return b.each(func(s *Series) Series {
		out := both(&a.Series[0], s, f)
		out.Label, out.Of = s.Label, s.Of
		return out
	}), nil
}

// spend counts the work of an operation. A series next to a list is read once for each series of the list.
func (o *operation) spend(env *Env, a, b Value) error {
	return env.spend(len(a.Series)+len(b.Series), a.samples()*max(1, len(b.Series))+b.samples()*max(1, len(a.Series)))
}

// each applies f to the series of v, which is not a number.
func (v Value) each(f func(*Series) Series) Value {
	out := Value{Kind: v.Kind, Series: make([]Series, len(v.Series))}
	for i := range v.Series {
		out.Series[i] = f(&v.Series[i])
	}
	return out
}
