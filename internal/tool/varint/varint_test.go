package varint

import (
	"encoding/binary"
	"math"
	"testing"
)

func TestWrittenValuesAreRead(t *testing.T) {
	var w Writer
	numbers := []uint64{0, 1, 127, 128, 300, math.MaxUint32, math.MaxUint64}
	signed := []int64{0, 1, -1, math.MaxInt64, math.MinInt64}
	for _, n := range numbers {
		w.Uint(n)
	}
	for _, n := range signed {
		w.Int(n)
	}
	w.Byte(7)
	w.String("text")
	w.Raw([]byte("raw"))
	r := NewReader([]byte(w))
	for _, n := range numbers {
		if got := r.Uint(); got != n {
			t.Errorf("%d is read as %d", n, got)
		}
	}
	for _, n := range signed {
		if got := r.Int(); got != n {
			t.Errorf("%d is read as %d", n, got)
		}
	}
	if b, s, raw := r.Byte(), r.String(),
		r.Raw(3); b != 7 || s != "text" || string(raw) != "raw" || r.Failed() || r.Left() != 0 {
		t.Errorf("read %d, %q, %q, failed %t, %d bytes left", b, s, raw, r.Failed(), r.Left())
	}
	if r.Byte() != 0 || !r.Failed() || r.Uint() != 0 || r.String() != "" {
		t.Error("data follows the end")
	}
}

// Omitted fields are not read, and a field that a reader does not know makes it fail.
func TestSparse(t *testing.T) {
	fields := [64]int64{0: -5, 3: 7, 63: 1}
	var w Writer
	w.Sparse(len(fields), func(i int) bool { return fields[i] != 0 }, func(i int) { w.Int(fields[i]) })
	var got [64]int64
	r := NewReader([]byte(w))
	r.Sparse(len(got), func(i int) { got[i] = r.Int() })
	if got != fields || r.Failed() || r.Left() != 0 {
		t.Errorf("%v is read as %v, failed %t, %d bytes left", fields, got, r.Failed(), r.Left())
	}
	r = NewReader([]byte(w))
	if r.Sparse(63, func(i int) { t.Errorf("field %d is read", i) }); !r.Failed() {
		t.Error("a reader of 63 fields reads the last of 64")
	}
}

// Both kinds of readers read the same as the standard library, or fail where it does.
func FuzzUint(f *testing.F) {
	f.Add([]byte{1})
	f.Add([]byte{0x80, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2})
	f.Fuzz(func(t *testing.T, text []byte) {
		want, size := binary.Uvarint(text)
		b, s := NewReader(text), NewReader(string(text))
		if size <= 0 {
			want, size = 0, len(text)
		}
		if n := b.Uint(); n != want || b.Left() != len(text)-size {
			t.Errorf("%x is %d, not %d; %d bytes left", text, n, want, b.Left())
		}
		if n := s.Uint(); n != want || s.Left() != b.Left() || s.Failed() != b.Failed() {
			t.Errorf("%x as a string is %d, not %d", text, n, want)
		}
	})
}

func TestSizes(t *testing.T) {
	for shift := range 64 {
		for _, n := range []uint64{1<<shift - 1, 1 << shift} {
			var w Writer
			if w.Uint(n); UintSize(n) != len(w) {
				t.Errorf("%d takes %d bytes, not %d", n, len(w), UintSize(n))
			}
		}
	}
	var w Writer
	if w.String("text"); StringSize("text") != len(w) {
		t.Errorf("a string takes %d bytes, not %d", len(w), StringSize("text"))
	}
}
