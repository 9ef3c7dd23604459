package encryption

import (
	"hash/maphash"
	"sync/atomic"
)

// places is the size of a table. It is a power of two.
const places = 1 << 12

// slots remembers values by key, one in each place, without locks. A value takes the place of another.
type slots[K comparable, V any] struct {
	seed maphash.Seed
	at   [places]atomic.Pointer[slot[K, V]]
}

type slot[K comparable, V any] struct {
	key   K
	value V
}

func newSlots[K comparable, V any]() *slots[K, V] { return &slots[K, V]{seed: maphash.MakeSeed()} }

func (s *slots[K, V]) place(k K) *atomic.Pointer[slot[K, V]] {
	return &s.at[maphash.Comparable(s.seed, k)%places]
}

// get returns the value of a key, if it is remembered.
func (s *slots[K, V]) get(k K) (v V, ok bool) {
	if at := s.place(k).Load(); at != nil && at.key == k {
		return at.value, true
	}
	return v, false
}

func (s *slots[K, V]) put(k K, v V) { s.place(k).Store(&slot[K, V]{k, v}) }
