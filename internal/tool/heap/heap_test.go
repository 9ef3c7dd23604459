package heap

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type element struct{ value, place int }

// The heap is compared with a list that is sorted for each question.
func TestHeapIsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		h := New(func(a, b *element) bool { return a.value < b.value }, func(e *element) *int { return &e.place })
		all := make([]*element, 40)
		for i := range all {
			all[i] = new(element)
		}
		var in []*element
		for range 300 {
			e := all[rng.IntN(len(all))]
			if rng.IntN(3) == 0 {
				h.Remove(e)
				in = slices.DeleteFunc(in, func(x *element) bool { return x == e })
			} else {
				if !slices.Contains(in, e) {
					in = append(in, e)
				}
				e.value = rng.IntN(50)
				h.Set(e)
			}
			if h.Len() != len(in) {
				t.Fatalf("it has %d elements of %d", h.Len(), len(in))
			}
			for _, e := range all {
				if h.Has(e) != slices.Contains(in, e) || h.Has(e) && h.items[e.place-1] != e {
					t.Fatalf("an element does not know its place: %+v", e)
				}
			}
			if len(in) > 0 {
				least := slices.MinFunc(in, func(a, b *element) int { return a.value - b.value })
				if h.First().value != least.value {
					t.Fatalf("the first is %d, want %d", h.First().value, least.value)
				}
			}
		}
		for last := -1; h.Len() > 0; {
			first := h.First()
			if first.value < last {
				t.Fatal("it is out of order")
			}
			last = first.value
			h.Remove(first)
		}
	}
}
