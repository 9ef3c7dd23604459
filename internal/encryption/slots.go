package encryption

import "sync/atomic"

// places is the size of a table: 2^placeBits.
const (
	placeBits = 12
	places    = 1 << placeBits
)

// key is the type of keys in the table. Its hash is spread evenly in its upper bits.
type key interface {
	comparable
	hash() uint64
}

// slots maps keys to values, one in each place, without locks. A new value replaces another in its place.
type slots[K key, V any] struct {
	at [places]atomic.Pointer[slot[K, V]]
}

type slot[K key, V any] struct {
	key   K
	value V
}

func newSlots[K key, V any]() *slots[K, V] { return new(slots[K, V]) }

func (s *slots[K, V]) place(k K) *atomic.Pointer[slot[K, V]] {
	return &s.at[k.hash()>>(64-placeBits)]
}

// get returns the value of a key, if it is remembered.
func (s *slots[K, V]) get(k K) (v V, ok bool) {
	if at := s.place(k).Load(); at != nil && at.key == k {
		return at.value, true
	}
	return v, false
}

func (s *slots[K, V]) put(k K, v V) { s.place(k).Store(&slot[K, V]{k, v}) }
