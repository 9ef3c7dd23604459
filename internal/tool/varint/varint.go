// Package varint encodes the fields of records on disk and of messages between nodes, one after the other: integers as
// varints, strings as a length and bytes. It does not define which fields there are.
package varint

import (
	"encoding/binary"
	"math/bits"
)

// Writer appends fields to a text.
type Writer []byte

// Byte appends a byte.
func (w *Writer) Byte(b byte) { *w = append(*w, b) }

// Uint appends a number.
func (w *Writer) Uint(n uint64) { *w = binary.AppendUvarint(*w, n) }

// Int appends a number that may be negative.
func (w *Writer) Int(n int64) { *w = binary.AppendVarint(*w, n) }

// String appends a length and a string.
func (w *Writer) String(s string) { w.Uint(uint64(len(s))); *w = append(*w, s...) }

// Sparse appends those of n fields for which has returns true: the bits of their numbers, and then what put appends for
// each. n is at most 64.
func (w *Writer) Sparse(n int, has func(i int) bool, put func(i int)) {
	var bits uint64
	for i := range n {
		if has(i) {
			bits |= 1 << i
		}
	}
	w.Uint(bits)
	for i := range n {
		if bits&(1<<i) != 0 {
			put(i)
		}
	}
}

// UintSize returns how many bytes Uint appends.
func UintSize(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }

// StringSize returns how many bytes String appends.
func StringSize(s string) int { return UintSize(uint64(len(s))) + len(s) }

// Raw appends bytes without a length.
func (w *Writer) Raw(b []byte) { *w = append(*w, b...) }

// Reader reads fields from a text. The first failure sticks, and later reads return zero.
type Reader[T string | []byte] struct {
	rest   T
	failed bool
}

// NewReader returns a reader of text. Its results share the memory of a string.
func NewReader[T string | []byte](text T) Reader[T] { return Reader[T]{rest: text} }

// Fail makes the reader fail.
func (r *Reader[T]) Fail() {
	r.failed = true
	r.rest = r.rest[len(r.rest):]
}

// Failed reports whether a field could not be read.
func (r *Reader[T]) Failed() bool { return r.failed }

// Left returns how many bytes are left.
func (r *Reader[T]) Left() int { return len(r.rest) }

// Byte takes a byte.
func (r *Reader[T]) Byte() byte {
	if len(r.rest) == 0 {
		r.Fail()
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// Uint takes a number.
func (r *Reader[T]) Uint() uint64 {
	var n uint64
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		b := r.rest[i]
		if i == binary.MaxVarintLen64-1 && b > 1 {
			break
		}
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.Fail()
	return 0
}

// Int takes a number that may be negative.
func (r *Reader[T]) Int() int64 {
	n := r.Uint()
	return int64(n>>1) ^ -int64(n&1)
}

// Raw takes n bytes.
func (r *Reader[T]) Raw(n uint64) T {
	if n > uint64(len(r.rest)) {
		r.Fail()
		return r.rest
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

// String takes a length and a string.
func (r *Reader[T]) String() string { return string(r.Raw(r.Uint())) }

// Sparse calls get for each field that Writer.Sparse has appended. The reader fails if one is not among the n.
func (r *Reader[T]) Sparse(n int, get func(i int)) {
	bits := r.Uint()
	if bits>>n != 0 {
		r.Fail()
		return
	}
	for i := range n {
		if bits&(1<<i) != 0 {
			get(i)
		}
	}
}
