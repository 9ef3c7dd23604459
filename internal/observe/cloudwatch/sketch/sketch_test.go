package sketch_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sluicemq/sluice/internal/observe/cloudwatch/sketch"
)

// stored returns a sketch as it is read back.
func stored(t testing.TB, s *sketch.Sketch) *sketch.Sketch {
	t.Helper()
	record := s.Encode()
	if len(record) > sketch.MaxRecord {
		t.Errorf("a record of %d bytes", len(record))
	}
	back, err := sketch.Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// A few values stay unchanged, in any order, and with their counts.
func TestFewValuesAreExact(t *testing.T) {
	t.Parallel()
	s := stored(t, sketch.Of(sketch.Value{Value: 0.1, Count: 1}, sketch.Value{Value: 300, Count: 2.5}))
	s = stored(t,
		s.Merge(sketch.Of(sketch.Value{Value: 7, Count: 1}, sketch.Value{Value: 0.1, Count: 3}, sketch.Value{
			Value: math.Copysign(0, -1), Count: 1,
		})))
	want := []sketch.Value{{Value: 0, Count: 1}, {Value: 0.1, Count: 4}, {Value: 7, Count: 1}, {Value: 300, Count: 2.5}}
	if got := s.Values(); !slices.Equal(got, want) || s.Count() != 8.5 {
		t.Errorf("%v, and in all %v", got, s.Count())
	}
	if s.Merge(nil) != nil || (*sketch.Sketch)(nil).Merge(s) != nil {
		t.Error("the merge with an unknown sketch is known")
	}
}

// With many values, in any order and merged in any way, no percentile exceeds the allowed error.
func TestManyValues(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	const parts, each = 60, 200
	var all []float64
	var s *sketch.Sketch
	for range parts {
		var values []sketch.Value
		for range each {
			v := math.Exp(rng.NormFloat64() * 2)
			all, values = append(all, v), append(values, sketch.Value{Value: v, Count: 1})
		}
		part := stored(t, sketch.Of(values...))
		if s == nil {
			s = part
		} else {
			s = s.Merge(part)
		}
	}
	s = stored(t, s)
	slices.Sort(all)
	if n := s.Count(); n != parts*each {
		t.Errorf("%v values", n)
	}
	i := 0
	for _, v := range s.Values() {
		for range int(v.Count) {
			if off := math.Abs(v.Value-all[i]) / all[i]; off > sketch.Accuracy*1.0001 {
				t.Fatalf("value %d of %d is %v, and was %v", i, len(all), v.Value, all[i])
			}
			i++
		}
	}
	if bytes := s.Bytes(); bytes > 20<<10 {
		t.Errorf("%d bytes of memory", bytes)
	}
}

// Values of all sizes, each more frequent than the previous, stay within the limits of a record.
func TestBounds(t *testing.T) {
	t.Parallel()
	var values []sketch.Value
	for i := range 4000 {
		values = append(values, sketch.Value{Value: math.Pow(1.1, float64(i-2000)), Count: 1e300})
	}
	s := stored(t, sketch.Of(append(values, sketch.Value{Value: 0x1p360, Count: 1})...))
	all := s.Values()
	if last := all[len(all)-1].Value; math.Abs(last/0x1p360-1) > sketch.Accuracy*1.0001 {
		t.Errorf("the largest value is %v", last)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{3})
	f.Add([]byte{1, 1, 2, 3})
	f.Add(sketch.Of(sketch.Value{Value: 1, Count: 1}, sketch.Value{Value: 2, Count: 7}).Encode())
	var many []sketch.Value
	for i := range 100 {
		many = append(many, sketch.Value{Value: float64(i), Count: float64(i + 1)})
	}
	f.Add(sketch.Of(many...).Encode())
	f.Fuzz(func(t *testing.T, record []byte) {
		s, err := sketch.Decode(record)
		if err != nil {
			return
		}
		once := s.Encode()
		back, err := sketch.Decode(once)
		if err != nil {
			t.Fatal(err)
		}
		if again := back.Encode(); !bytes.Equal(once, again) {
			t.Errorf("%x becomes %x", once, again)
		}
		if merged := s.Merge(back); math.Abs(merged.Count()-2*s.Count()) > 1e-9*merged.Count() {
			t.Errorf("%v and %v are %v", s.Count(), back.Count(), merged.Count())
		}
	})
}

func BenchmarkMerge(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 1000} {
		var values []sketch.Value
		for range n {
			values = append(values, sketch.Value{Value: math.Exp(rng.NormFloat64()), Count: 1})
		}
		record := sketch.Of(values...).Encode()
		one := sketch.Of(sketch.Value{Value: 1, Count: 1})
		b.Run(map[int]string{10: "few", 1000: "many"}[n], func(b *testing.B) {
			b.ReportMetric(float64(len(record)), "bytes/record")
			for b.Loop() {
				s, err := sketch.Decode(record)
				if err != nil {
					b.Fatal(err)
				}
				_ = s.Merge(one).Encode()
			}
		})
	}
}
