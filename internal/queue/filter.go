package queue

import "hash/maphash"

// filter is a set of hashes that may err to one side: what it says it does not
// have was never added. A Bloom filter of fixed size would be too small or too
// large, so it is a row of them, each four times as large as the one before
// (Almeida et al., Scalable Bloom Filters, 2007); with the last one full, about
// one in fifty of those asked for in vain is taken for present.
type filter struct {
	layers []layer
	room   int // of the last layer
}

type layer []uint64

const (
	firstLayer  = 1 << 10 // hashes that the first layer has room for
	layerGrowth = 4
	bitsPerHash = 10
	probes      = 7 // best for that many bits
	bitsPerWord = 64
)

func (f *filter) add(hash uint64) {
	if f.room == 0 {
		f.room = firstLayer
		for range f.layers {
			f.room *= layerGrowth
		}
		f.layers = append(f.layers, make(layer, (f.room*bitsPerHash+bitsPerWord-1)/bitsPerWord))
	}
	f.room--
	l := f.layers[len(f.layers)-1]
	for i := range uint64(probes) {
		word, bit := l.place(hash, i)
		l[word] |= bit
	}
}

func (f *filter) has(hash uint64) bool {
	for _, l := range f.layers {
		if l.has(hash) {
			return true
		}
	}
	return false
}

func (l layer) has(hash uint64) bool {
	for i := range uint64(probes) {
		if word, bit := l.place(hash, i); l[word]&bit == 0 {
			return false
		}
	}
	return true
}

// place is where the i-th bit of a hash stands, by double hashing (Kirsch and
// Mitzenmacher, Less Hashing, Same Performance, 2006).
func (l layer) place(hash, i uint64) (word int, bit uint64) {
	h := (hash + i*(hash>>32|1)) % uint64(len(l)*bitsPerWord)
	return int(h / bitsPerWord), 1 << (h % bitsPerWord)
}

// hashSeed differs from process to process, so that nobody can choose ids that
// the filters mix up. No answer of the engine depends on it, only the time that
// finding it takes.
var hashSeed = maphash.MakeSeed()

func hashOf(kind byte, id string) uint64 {
	var h maphash.Hash
	h.SetSeed(hashSeed)
	_ = h.WriteByte(kind)
	_, _ = h.WriteString(id)
	return h.Sum64()
}
