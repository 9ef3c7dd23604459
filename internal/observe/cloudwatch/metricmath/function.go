package metricmath

import (
	"cmp"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"
)

// function is a function of metric math.
type function struct {
	least, most int // arguments
	apply       func(c *call, env *Env) (Value, error)
	words       map[int]words // of the arguments that are, or may be, words
}

// words are the words that an argument can be.
type words struct {
	all  []string
	only bool // and it can be nothing else
}

func (f function) takes() string {
	switch {
	case f.least == 1 && f.most == 1:
		return "one argument"
	case f.least == f.most:
		return fmt.Sprintf("%d arguments", f.least)
	}
	return fmt.Sprintf("%d or %d arguments", f.least, f.most)
}

// of is a function whose arguments are values.
func of(least, most int, apply func(*call, *Env) (Value, error)) function {
	return function{least: least, most: most, apply: apply}
}

// functions are all but METRICS, SEARCH and ANOMALY_DETECTION_BAND, which take texts and ids. It is filled below, since
// the functions look at calls.
var functions map[string]function

func init() {
	functions = map[string]function{
		"ABS": each(math.Abs), "CEIL": each(math.Ceil), "FLOOR": each(math.Floor),
		"SUM": aggregate(sum), "AVG": aggregate(average), "MIN": aggregate(slices.Min), "MAX": aggregate(slices.Max),
		"LOG": each(math.Log), "LOG10": each(math.Log10), "STDDEV": aggregate(deviation),
		"DATAPOINT_COUNT": of(1, 1, count),
		"DIFF":            of(1, 1, steps(func(v float64, _ int64) float64 { return v })),
		"DIFF_TIME":       of(1, 1, steps(func(_ float64, seconds int64) float64 { return float64(seconds) })),
		"RATE":            of(1, 1, steps(func(v float64, seconds int64) float64 { return v / float64(seconds) })),
		"FILL":            {2, 2, fill, map[int]words{1: {all: []string{"REPEAT", "LINEAR"}}}},
		"IF":              of(2, 3, choose), "PERIOD": of(1, 1, period), "RUNNING_SUM": of(1, 1, runningSum),
		"TIME_SERIES": of(1, 1, timeSeries),

		"FIRST": of(1, 1, first), "LAST": of(1, 1, last), "METRIC_COUNT": of(1, 1, metricCount),
		"REMOVE_EMPTY": of(1, 1, removeEmpty),
		"SLICE":        of(2, 3, slice),
		"SORT": {
			3, 4, sorted,
			map[int]words{1: {[]string{"AVG", "MAX", "MIN", "SUM"}, true}, 2: {[]string{"ASC", "DESC"}, true}},
		},

		"MINUTE": clock(func(at time.Time) int { return at.Minute() }),
		"HOUR":   clock(func(at time.Time) int { return at.Hour() }),
		"DAY":    clock(func(at time.Time) int { return (int(at.Weekday())+6)%7 + 1 }), // 1 is Monday
		"DATE":   clock(func(at time.Time) int { return at.Day() }),
		"MONTH":  clock(func(at time.Time) int { return int(at.Month()) }),
		"YEAR":   clock(func(at time.Time) int { return at.Year() }),
		"EPOCH":  clock(func(at time.Time) int { return int(at.Unix()) }),
	}
}

type call struct {
	name     string
	at       int
	function function
	args     []node
}

func (c *call) evaluate(env *Env) (Value, error) {
	if err := env.spend(1, 0); err != nil {
		return Value{}, err
	}
	return c.function.apply(c, env)
}

// arg returns the value of an argument.
func (c *call) arg(env *Env, i int) (Value, error) { return c.args[i].evaluate(env) }

// series returns the value of an argument that is no number.
func (c *call) series(env *Env, i int) (Value, error) {
	v, err := c.arg(env, i)
	if err == nil && v.Kind == Number {
		return Value{}, fault(c.at, "%s takes a time series, not a number", c.name)
	}
	return v, err
}

// each is a function of every value.
func each(f func(float64) float64) function {
	return of(1, 1, func(c *call, env *Env) (Value, error) {
		v, err := c.arg(env, 0)
		switch {
		case err != nil:
			return Value{}, err
		case v.Kind == Number:
			return number(f(v.Number)), nil
		}
		if err := env.spendOn(v); err != nil {
			return Value{}, err
		}
		return v.each(func(s *Series) Series { return s.each(f) }), nil
	})
}

func sum(values []float64) (n float64) {
	for _, v := range values {
		n += v
	}
	return n
}

func average(values []float64) float64 { return sum(values) / float64(len(values)) }

// deviation is the standard deviation of values that are the whole population, not a sample of it.
func deviation(values []float64) float64 {
	mean, squares := average(values), 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)))
}

// count is how many samples a series has, or the series of a list at each time.
func count(c *call, env *Env) (Value, error) {
	v, err := c.series(env, 0)
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind == List:
		return across(env, v, func(values []float64) float64 { return float64(len(values)) })
	}
	return number(float64(len(v.Series[0].Samples))), nil
}

// runningSum has at each sample the sum of all up to it.
func runningSum(c *call, env *Env) (Value, error) {
	v, err := c.series(env, 0)
	if err != nil {
		return Value{}, err
	}
	if err := env.spendOn(v); err != nil {
		return Value{}, err
	}
	return v.each(func(s *Series) Series {
		sum := 0.0
		return s.each(func(n float64) float64 {
			sum += n
			return sum
		})
	}), nil
}

// aggregate is a function that turns a series into one number, and a list into one series.
func aggregate(f func([]float64) float64) function {
	return of(1, 1, func(c *call, env *Env) (Value, error) {
		v, err := c.series(env, 0)
		switch {
		case err != nil:
			return Value{}, err
		case v.Kind == List:
			return across(env, v, f)
		case len(v.Series[0].Samples) == 0:
			return number(math.NaN()), nil
		}
		if err := env.spendOn(v); err != nil {
			return Value{}, err
		}
		return number(f(v.Series[0].values())), nil
	})
}

// values returns the values of the samples of s.
func (s *Series) values() []float64 {
	out := make([]float64, len(s.Samples))
	for i, p := range s.Samples {
		out[i] = p.Value
	}
	return out
}

// across returns the series of the results of f for all samples of each time.
func across(env *Env, v Value, f func([]float64) float64) (Value, error) {
	n := v.samples()
	if err := env.spend(1+2*len(v.Series), n*(2+bits.Len(uint(len(v.Series))))); err != nil { // it sorts the samples
		return Value{}, err
	}
	var out Series
	samples := make([]Sample, 0, n)
	for _, s := range v.Series {
		out.Period = max(out.Period, s.Period)
		samples = append(samples, s.Samples...)
	}
	slices.SortStableFunc(samples, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
	values := make([]float64, 0, len(v.Series))
	kept := samples[:0] // a sample of the result takes the place of one that was read
	for i, p := range samples {
		values = append(values, p.Value)
		if i+1 == len(samples) || samples[i+1].Time != p.Time {
			if n := f(values); finite(n) {
				kept = append(kept, Sample{p.Time, n})
			} else {
				out.Dropped = true
			}
			values = values[:0]
		}
	}
	out.Samples = kept
	return one(out), nil
}

// steps is a function of how much each sample is more than the one before, and of the seconds between them.
func steps(f func(v float64, seconds int64) float64) func(*call, *Env) (Value, error) {
	return func(c *call, env *Env) (Value, error) {
		v, err := c.series(env, 0)
		if err != nil {
			return Value{}, err
		}
		if err := env.spendOn(v); err != nil {
			return Value{}, err
		}
		return v.each(func(s *Series) Series {
			out := s.like()
			out.Samples = make([]Sample, 0, len(s.Samples))
			for i := 1; i < len(s.Samples); i++ {
				a, b := s.Samples[i-1], s.Samples[i]
				out.add(b.Time, f(b.Value-a.Value, b.Time-a.Time))
			}
			return out
		}), nil
	}
}

func period(c *call, env *Env) (Value, error) {
	v, err := c.arg(env, 0)
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind != OneSeries:
		return Value{}, fault(c.at, "PERIOD takes a time series, not %s", v.Kind)
	}
	return number(float64(v.Series[0].Period)), nil
}

// timeSeries makes a series of a number, with the longest period of the request's metrics.
func timeSeries(c *call, env *Env) (Value, error) {
	v, err := c.arg(env, 0)
	switch {
	case err != nil:
		return Value{}, err
	case v.Kind != Number:
		return Value{}, fault(c.at, "TIME_SERIES takes a number, not %s", v.Kind)
	}
	out := Series{Period: env.Period}
	n := env.periods(out.Period)
	if err := env.spend(1, n); err != nil {
		return Value{}, err
	}
	out.Samples = make([]Sample, 0, n)
	for i := range int64(n) {
		out.add(env.Start+i*out.Period, v.Number)
	}
	return one(out), nil
}

// fill gives a series values at the times of the window at which it has none.
func fill(c *call, env *Env) (Value, error) {
	v, err := c.series(env, 0)
	if err != nil {
		return Value{}, err
	}
	if err := env.spendOnWindow(v); err != nil {
		return Value{}, err
	}
	with := func(*Series, *int, int64) (float64, bool) { return 0, false }
	switch w, isWord := c.args[1].(word); {
	case isWord && w == "REPEAT":
		with = repeat
	case isWord:
		with = interpolate
	default:
		filler, err := c.arg(env, 1)
		switch {
		case err != nil:
			return Value{}, err
		case filler.Kind == List:
			return Value{}, fault(c.at, "FILL does not fill with a list of time series")
		case filler.Kind == Number:
			with = func(*Series, *int, int64) (float64, bool) { return filler.Number, true }
		default:
			if err := env.spend(0, len(filler.Series[0].Samples)*len(v.Series)); err != nil {
				return Value{}, err
			}
			return v.each(func(s *Series) Series {
				from := 0
				return s.fill(env, func(_ *Series, _ *int, at int64) (float64, bool) {
					return filler.Series[0].at(&from, at)
				})
			}), nil
		}
	}
	return v.each(func(s *Series) Series { return s.fill(env, with) }), nil
}

// fill returns s with values by f at the times at which it has none. next is the index of the next sample.
func (s *Series) fill(env *Env, f func(s *Series, next *int, at int64) (float64, bool)) Series {
	out := s.like()
	out.Samples = make([]Sample, 0, env.periods(s.Period))
	next := 0
	for at := env.Start; at < env.End && s.Period > 0; at += s.Period {
		v, ok := s.at(&next, at)
		if !ok {
			v, ok = f(s, &next, at)
		}
		if ok {
			out.add(at, v)
		}
	}
	return out
}

// repeat fills with the value before.
func repeat(s *Series, next *int, _ int64) (float64, bool) {
	if *next == 0 {
		return 0, false
	}
	return s.Samples[*next-1].Value, true
}

// interpolate fills with what lies on the line between the values before and after.
func interpolate(s *Series, next *int, at int64) (float64, bool) {
	if *next == 0 || *next == len(s.Samples) {
		return 0, false
	}
	a, b := s.Samples[*next-1], s.Samples[*next]
	part := float64(at-a.Time) / float64(b.Time-a.Time)
	return a.Value + (b.Value-a.Value)*part, true
}

// choose is IF. If the condition is a series, each of its samples chooses.
func choose(c *call, env *Env) (Value, error) {
	var v [3]Value
	for i := range c.args {
		var err error
		if v[i], err = c.arg(env, i); err != nil {
			return Value{}, err
		}
		if v[i].Kind == List {
			return Value{}, fault(c.at, "IF does not take a list of time series")
		}
	}
	condition, otherwise := v[0], len(c.args) == 3
	if condition.Kind == Number {
		switch {
		case math.IsNaN(condition.Number):
		case condition.Number != 0:
			return v[1], nil
		case otherwise:
			return v[2], nil
		}
		return one(Series{Period: env.Period}), nil
	}
	if err := env.spend(1, condition.samples()+v[1].samples()+v[2].samples()); err != nil {
		return Value{}, err
	}
	s := &condition.Series[0]
	out := s.like()
	out.Samples = make([]Sample, 0, len(s.Samples))
	var from [3]int
	for _, p := range s.Samples {
		i := 1
		if p.Value == 0 {
			i = 2
		}
		if i == 2 && !otherwise {
			continue
		}
		n, ok := v[i].Number, true
		if v[i].Kind == OneSeries {
			n, ok = v[i].Series[0].at(&from[i], p.Time)
		}
		switch {
		case ok:
			out.add(p.Time, n)
		case v[i].Series[0].Dropped: // what was chosen is perhaps what was dropped
			out.Dropped = true
		}
	}
	return one(out), nil
}
