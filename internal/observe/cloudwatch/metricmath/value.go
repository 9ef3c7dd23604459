package metricmath

import "math"

// Sample is a value at a time, in seconds since 1970.
type Sample struct {
	Time  int64
	Value float64
}

// Series holds samples in order of time, at most one per period.
type Series struct {
	Label   string
	Period  int64 // in seconds
	Samples []Sample
	Of      any // the caller's data about the metric of the samples; nil if there are several metrics
	// Dropped means that a result, such as that of a division by 0, was not a valid value, and has no sample.
	Dropped bool
}

// like returns an empty series about the same metric as s.
func (s *Series) like() Series { return Series{Label: s.Label, Period: s.Period, Of: s.Of} }

// Kind is the kind of an expression's result.
type Kind uint8

// The kinds of values.
const (
	Number Kind = iota
	OneSeries
	List // of series
)

func (k Kind) String() string {
	return [...]string{"a number", "a time series", "a list of time series"}[k]
}

// Value is the value of an expression. Its series are immutable.
type Value struct {
	Kind   Kind
	Number float64  // of a Number; NaN: no value, such as the average of nothing
	Series []Series // one of OneSeries, any number of a List
}

// Bytes returns the memory of the value.
func (v Value) Bytes() int { return len(v.Series)*seriesBytes + v.samples()*sampleBytes }

// samples returns the number of samples of all series of v.
func (v Value) samples() (n int) {
	for i := range v.Series {
		n += len(v.Series[i].Samples)
	}
	return n
}

func number(n float64) Value {
	if !finite(n) {
		n = math.NaN()
	}
	return Value{Kind: Number, Number: n}
}

func one(s Series) Value { return Value{Kind: OneSeries, Series: []Series{s}} }

// Of returns a value of one series.
func Of(s Series) Value { return one(s) }

// ListOf returns a value of a list of series.
func ListOf(s []Series) Value { return Value{Kind: List, Series: s} }

// finite reports whether n is a valid value.
func finite(n float64) bool { return !math.IsNaN(n) && !math.IsInf(n, 0) }

// at returns the value of s at a time. Successive calls must not go back in time; from is where to start looking.
func (s *Series) at(from *int, time int64) (float64, bool) {
	for *from < len(s.Samples) && s.Samples[*from].Time < time {
		*from++
	}
	if *from < len(s.Samples) && s.Samples[*from].Time == time {
		return s.Samples[*from].Value, true
	}
	return 0, false
}

// each applies f to the samples of s, and keeps valid results.
func (s *Series) each(f func(float64) float64) Series {
	out := s.like()
	out.Dropped = s.Dropped
	out.Samples = make([]Sample, 0, len(s.Samples))
	for _, p := range s.Samples {
		out.add(p.Time, f(p.Value))
	}
	return out
}

// add adds a sample if its value is valid, and notes that one was dropped if not.
func (s *Series) add(time int64, v float64) {
	if !finite(v) {
		s.Dropped = true
		return
	}
	s.Samples = append(s.Samples, Sample{time, v})
}

// both applies f to the samples of a and b at the times at which both have one.
func both(a, b *Series, f func(x, y float64) float64) Series {
	out := a.like()
	out.Period, out.Dropped = max(a.Period, b.Period), a.Dropped || b.Dropped
	out.Samples = make([]Sample, 0, min(len(a.Samples), len(b.Samples)))
	from := 0
	for _, p := range a.Samples {
		if v, ok := b.at(&from, p.Time); ok {
			out.add(p.Time, f(p.Value, v))
		}
	}
	return out
}
