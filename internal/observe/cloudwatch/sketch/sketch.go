// Package sketch stores the samples of a period: their values and how often each occurred, from which percentiles and
// trimmed means follow.
//
// Up to 64 different values are stored exactly. More are stored as a DDSketch: a histogram in which no value is off by
// more than Accuracy of itself, unless the values span more than nine orders of magnitude. Then the lowest of them may
// be. A sketch of a longer period is merged from those of shorter ones, and does not depend on their order.
package sketch

import (
	"cmp"
	"math"
	"slices"
	"unsafe"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"
)

const (
	// Accuracy is the maximum relative error of a value.
	Accuracy = 0.01
	// maxBins is how many bins a histogram has. They span a factor of 1.02 each.
	maxBins = 1024
	// maxExact is the maximum number of different values that are held exactly in memory.
	maxExact = 1024
)

// Value is a value, and the number of samples that have it. The number need not be whole.
type Value struct{ Value, Count float64 }

// Sketch holds the samples of a period. It is immutable.
type Sketch struct {
	exact []Value            // in order of value, each once; or else
	bins  *ddsketch.DDSketch // a histogram
}

// Of returns the sketch of samples, whose values are at least 0 and finite, and whose numbers are above 0.
func Of(values ...Value) *Sketch {
	all := slices.Clone(values)
	slices.SortFunc(all, compare)
	for i := range all {
		all[i].Value = math.Abs(all[i].Value) // of -0
	}
	return (&Sketch{exact: unite(all)}).bounded()
}

func compare(a, b Value) int { return cmp.Compare(a.Value, b.Value) }

// unite combines neighbours with the same value.
func unite(all []Value) []Value {
	out := all[:0]
	for _, v := range all {
		if n := len(out); n > 0 && out[n-1].Value == v.Value {
			out[n-1].Count += v.Count
		} else {
			out = append(out, v)
		}
	}
	return out
}

// bounded returns the sketch, as a histogram if it has too many values.
func (s *Sketch) bounded() *Sketch {
	if len(s.exact) <= maxExact {
		return s
	}
	return &Sketch{bins: s.histogram()}
}

// Merge returns the sketch of the samples of both; nil if one of them is unknown.
func (s *Sketch) Merge(o *Sketch) *Sketch {
	switch {
	case s == nil || o == nil:
		return nil
	case s.bins == nil && o.bins == nil:
		all := append(slices.Clone(s.exact), o.exact...)
		slices.SortFunc(all, compare)
		return (&Sketch{exact: unite(all)}).bounded()
	}
	bins := s.histogram()
	if err := bins.MergeWith(o.histogram()); err != nil {
		panic(err) // all have the same bins
	}
	return &Sketch{bins: bins}
}

// histogram returns a histogram that the caller may change.
func (s *Sketch) histogram() *ddsketch.DDSketch {
	if s.bins != nil {
		return s.bins.Copy()
	}
	bins := ddsketch.NewDDSketchFromStoreProvider(scale, newStore)
	for _, v := range s.exact {
		if err := bins.AddWithCount(v.Value, v.Count); err != nil {
			panic(err) // Of says which values there may be
		}
	}
	return bins
}

// All histograms have the same scale.
var scale = must(mapping.NewLogarithmicMapping(Accuracy))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newStore() store.Store { return store.NewCollapsingLowestDenseStore(maxBins) }

// Values returns the values in order.
func (s *Sketch) Values() []Value {
	if s.bins == nil {
		return s.exact
	}
	var out []Value
	s.bins.ForEach(func(value, count float64) bool {
		out = append(out, Value{value, count})
		return false
	})
	slices.SortFunc(out, compare)
	return out
}

// Count returns how many samples there are.
func (s *Sketch) Count() (n float64) {
	if s.bins != nil {
		return s.bins.GetCount()
	}
	for _, v := range s.exact {
		n += v.Count
	}
	return n
}

// Bytes returns the approximate memory of the sketch.
func (s *Sketch) Bytes() int {
	if s == nil {
		return 0
	}
	return int(unsafe.Sizeof(*s)) + cap(s.exact)*int(unsafe.Sizeof(Value{})) + s.binBytes()
}

func (s *Sketch) binBytes() int {
	if s.bins == nil {
		return 0
	}
	return 8*maxBins + 512
}

func isValue(n float64) bool { return n >= 0 && n <= math.MaxFloat64/4 }
