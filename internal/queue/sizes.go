package queue

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/sluicemq/sluice/internal/tool/varint"
)

// Sizes counts messages by their sizes. It has at most maxSizes classes of sizes, so its memory and its record are
// bounded. It does not depend on the order of messages:
//
//   - Up to exactSizes different sizes are stored exactly.
//   - For more sizes there are classes: 64 between a power of two and the next; each size below 128 has its own class.
//     No size is further than 0.8% from the middle of its class.
//   - If that makes more than maxSizes classes, there are 32 classes between two powers, or 16, which suffice for sizes
//     up to a megabyte. No size is then further than 3.2% from the middle.
type Sizes struct {
	scale   uint8 // 0: sizes as they are; 1: the finest classes; each further scale halves their number
	classes []sizeClass

	// record is the record of the sizes of a running minute; it is empty if they have changed since they were encoded.
	record []byte
}

// sizeClass is the number of messages in a class of sizes.
type sizeClass struct {
	class uint64
	n     uint64
}

const (
	exactSizes = 32
	maxSizes   = 320
	// finest is the scale with 2 to the power of finestBits classes between two powers of two. With coarsest, maxSizes
	// classes suffice for all sizes.
	finest, finestBits, coarsest = 1, 6, 6
)

// classOf returns the class of a size.
func classOf(size uint64, scale uint8) uint64 {
	if scale == 0 {
		return size
	}
	of := bitsOf(scale)
	shift := max(0, bits.Len64(size)-of-1)
	return uint64(shift)<<of + size>>shift
}

// bitsOf returns how many bits after the first one determine the class of a size.
func bitsOf(scale uint8) int { return finestBits + finest - int(scale) }

// leastOf returns the smallest size of a class.
func leastOf(class uint64, scale uint8) uint64 {
	if scale == 0 {
		return class
	}
	of := bitsOf(scale)
	if class < 2<<of {
		return class
	}
	shift := class>>of - 1
	return (class - shift<<of) << shift
}

// add counts n messages of a size.
func (s *Sizes) add(size, n uint64) {
	s.record = s.record[:0]
	class := classOf(size, s.scale)
	at, found := slices.BinarySearchFunc(s.classes, class, func(c sizeClass, class uint64) int {
		return cmp.Compare(c.class, class)
	})
	if found {
		s.classes[at].n += n
		return
	}
	s.classes = slices.Insert(s.classes, at, sizeClass{class, n})
	for s.tooMany() {
		s.coarsen(s.scale + 1)
	}
}

// tooMany reports whether there are too many classes.
func (s *Sizes) tooMany() bool {
	return s.scale < coarsest && (len(s.classes) > maxSizes || s.scale == 0 && len(s.classes) > exactSizes)
}

// coarsen converts the classes to a coarser scale.
func (s *Sizes) coarsen(scale uint8) {
	out := s.classes[:0]
	for _, c := range s.classes {
		class := classOf(leastOf(c.class, s.scale), scale)
		if last := len(out) - 1; last >= 0 && out[last].class == class {
			out[last].n += c.n
		} else {
			out = append(out, sizeClass{class, c.n})
		}
	}
	s.scale, s.classes = scale, out
}

// merged returns the sum of both. It does not change them.
func (s *Sizes) merged(o *Sizes) *Sizes {
	if s.scale < o.scale {
		s, o = o, s
	}
	sum := &Sizes{scale: s.scale, classes: slices.Clone(s.classes)}
	for _, c := range o.classes {
		sum.add(leastOf(c.class, o.scale), c.n)
	}
	return sum
}

// Count returns the number of messages.
func (s *Sizes) Count() (n uint64) {
	for _, c := range s.classes {
		n += c.n
	}
	return n
}

// Each calls f with the middle of each class and its number of messages, in order of size.
func (s *Sizes) Each(f func(size float64, n uint64)) {
	for _, c := range s.classes {
		least := leastOf(c.class, s.scale)
		last := least
		if s.scale > 0 {
			last = leastOf(c.class+1, s.scale) - 1
		}
		f((float64(least)+float64(last))/2, c.n)
	}
}

// MaxSizesBytes is the maximum memory of a Sizes.
const MaxSizesBytes = 32 + 16*2*maxSizes

// encode appends the sizes to a record: the scale, the number of classes, and for each class its distance from the
// previous one and its number of messages.
func (s *Sizes) encode(w *writer) {
	w.Byte(s.scale)
	w.Uint(uint64(len(s.classes)))
	before := uint64(0)
	for _, c := range s.classes {
		w.Uint(c.class - before)
		w.Uint(c.n)
		before = c.class
	}
}

// AppendTo appends the sizes to b, in the form that ReadSizes reads. For nil it appends nothing.
func (s *Sizes) AppendTo(b []byte) []byte {
	if s == nil {
		return b
	}
	w := writer{b}
	s.encode(&w)
	return w.Writer
}

// ReadSizes reads sizes that AppendTo has appended to an empty slice.
func ReadSizes(b []byte) (*Sizes, error) {
	if len(b) == 0 {
		return nil, nil
	}
	r := &reader{Reader: varint.NewReader(b)}
	s := decodeSizes(r)
	return s, r.done("sizes")
}

// decodeSizes reads sizes from a record.
func decodeSizes(r *reader) *Sizes {
	s := &Sizes{scale: r.Byte()}
	n := r.count(2)
	if s.scale > coarsest || n > maxSizes || s.scale == 0 && n > exactSizes || n == 0 {
		r.Fail()
		return nil
	}
	s.classes = make([]sizeClass, n)
	before := uint64(0)
	for i := range s.classes {
		c := sizeClass{before + r.Uint(), r.Uint()}
		if c.n == 0 || i > 0 && c.class <= before || c.class > classOf(1<<64-1, s.scale) {
			r.Fail()
			return nil
		}
		s.classes[i], before = c, c.class
	}
	return s
}

// sizesOf returns the sizes of the messages of a row: nil if they are unknown. They follow from the row if all are the
// same.
func (r *Row) sizesOf() *Sizes {
	v, n := r.Values[MetricSentBytes], r.Values[MetricSent].Sum
	switch {
	case r.Sizes != nil:
		return r.Sizes
	case n > 0 && v.Min == v.Max:
		return &Sizes{classes: []sizeClass{{v.Min, n}}}
	}
	return nil
}

// mergedSizes returns the sizes of the messages of two rows; nil if they follow from the merged row, or are unknown.
func mergedSizes(r, other *Row) *Sizes {
	switch {
	case other.Values[MetricSent].Sum == 0:
		return r.Sizes
	case r.Values[MetricSent].Sum == 0:
		return other.Sizes
	}
	a, b := r.sizesOf(), other.sizesOf()
	if a == nil || b == nil {
		return nil
	}
	if sum := a.merged(b); sum.scale > 0 || len(sum.classes) > 1 {
		return sum
	}
	return nil
}

// sized counts the sizes of the messages of the running minute.
type sized struct {
	smallest uint64 // message of the minute
	largest  uint64
	// sizes are nil while smallest equals largest, so that they follow from these. They are also nil if they are
	// unknown, because the minute began before sizes could be stored.
	sizes *Sizes
}

// add counts a message; n messages came before it. It records the sizes if it may.
func (s *sized) add(size, n uint64, may bool) {
	if n == 0 {
		*s = sized{size, size, nil}
		return
	}
	same := s.smallest == s.largest
	if same && size == s.smallest {
		return
	}
	if s.sizes == nil && same && may {
		s.sizes = new(Sizes)
		s.sizes.add(s.smallest, n)
	}
	s.smallest, s.largest = min(s.smallest, size), max(s.largest, size)
	if s.sizes != nil {
		s.sizes.add(size, 1)
	}
}

// encode appends the smallest and the largest size to a record, and the sizes if they do not follow from these. Only
// records of the newest version have sizes.
func (s *sized) encode(w *writer) {
	w.Uint(s.smallest)
	w.Uint(s.largest)
	if s.sizes == nil {
		return
	}
	if len(s.sizes.record) == 0 {
		s.sizes.record = s.sizes.AppendTo(s.sizes.record)
	}
	w.Raw(s.sizes.record)
}

// decode reads from a record what encode has appended, for n messages, with or without sizes.
func (s *sized) decode(r *reader, sizes bool, n uint64) {
	*s = sized{smallest: r.Uint(), largest: r.Uint()}
	if !sizes {
		return
	}
	if s.sizes = decodeSizes(r); s.sizes != nil && s.sizes.Count() != n {
		r.Fail()
	}
}

func (s *sized) put(r *Row) {
	r.Values[MetricSentBytes].Min, r.Values[MetricSentBytes].Max = s.smallest, s.largest
	r.Sizes = s.sizes
}
