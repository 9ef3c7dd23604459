package queue

import (
	"hash/maphash"
	"iter"
	"math/bits"
)

// filter is a set of hashes with one-sided errors: it may report a hash that was never added, but never misses one that
// was. A Bloom filter of fixed size would be too small or too large. So filter is a sequence of Bloom filters, each
// four times as large as the previous one (Almeida et al., Scalable Bloom Filters, 2007). When the last one is full,
// about one in two thousand absent hashes is reported as present. With 16 bits per hash it would be one in two hundred.
type filter struct {
	layers []layer
	room   int // of the last layer
}

// A layer is a Bloom filter in blocks of a processor's cache line, so that a lookup waits for memory once (Putze et
// al., Cache-, Hash- and Space-Efficient Bloom Filters, 2007).
type layer []filterLine

type filterLine [8]uint64

const (
	firstLayer  = 1 << 10 // hashes that the first layer has room for
	layerGrowth = 4
	bitsPerHash = 24
	probes      = 7 // of 9 bits each
	bitsPerLine = 1 << 9
)

func (f *filter) add(hash uint64) {
	if f.room == 0 {
		f.room = firstLayer
		for range f.layers {
			f.room *= layerGrowth
		}
		f.layers = append(f.layers, make(layer, f.room*bitsPerHash/bitsPerLine))
	}
	f.room--
	f.layers[len(f.layers)-1].line(hash).add(hash)
}

func (f *filter) has(hash uint64) bool {
	for _, l := range f.layers {
		if l.line(hash).has(hash) {
			return true
		}
	}
	return false
}

// line returns the line of a hash: the hash, read as a fraction, selects it.
func (l layer) line(hash uint64) *filterLine {
	i, _ := bits.Mul64(hash, uint64(len(l)))
	return &l[i]
}

func (l *filterLine) add(hash uint64) {
	for p := range places(hash) {
		l[p/64] |= 1 << (p % 64)
	}
}

func (l *filterLine) has(hash uint64) bool {
	for p := range places(hash) {
		if l[p/64]&(1<<(p%64)) == 0 {
			return false
		}
	}
	return true
}

// places yields the bits of a hash in its line. They should not depend on the line, so the hash is mixed once more
// (Fibonacci hashing).
func places(hash uint64) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for h, i := hash*0x9e3779b97f4a7c15, 0; i < probes && yield(h%bitsPerLine); i++ {
			h >>= 9
		}
	}
}

// hashSeed differs from process to process, so that clients cannot choose ids with colliding hashes. It affects only
// how long the engine takes, never its answers.
var hashSeed = maphash.MakeSeed()

func hashOf(kind byte, id string) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	_ = h.WriteByte(kind)
	_, _ = h.WriteString(id)
	return h.Sum64()
}
