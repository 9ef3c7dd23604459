// Package heap implements a priority queue whose elements know their place in it, so that a changed element can be
// moved, and one in the middle removed, without a search.
package heap

import (
	"iter"
	"slices"
)

// Heap holds elements in the order of less: the first is least. An element is in one
// heap at a time. The zero value is not ready for use.
type Heap[T any] struct {
	items []T
	less  func(a, b T) bool
	place func(T) *int
}

// New returns an empty heap. place returns where an element keeps its place: 1 for the
// first, and 0 while it is in no heap.
func New[T any](less func(a, b T) bool, place func(T) *int) Heap[T] {
	return Heap[T]{less: less, place: place}
}

// Len returns how many elements there are.
func (h *Heap[T]) Len() int { return len(h.items) }

// First returns the least element of a heap that is not empty.
func (h *Heap[T]) First() T { return h.items[0] }

// All yields the elements, in no particular order.
func (h *Heap[T]) All() iter.Seq[T] { return slices.Values(h.items) }

// Has reports whether x is in the heap.
func (h *Heap[T]) Has(x T) bool { return *h.place(x) > 0 }

// Set adds x, or moves it to its place after a change.
func (h *Heap[T]) Set(x T) {
	if !h.Has(x) {
		h.items = append(h.items, x)
		*h.place(x) = len(h.items)
	}
	i := *h.place(x) - 1
	if !h.down(i) {
		h.up(i)
	}
}

// Remove removes x if it is in the heap.
func (h *Heap[T]) Remove(x T) {
	if !h.Has(x) {
		return
	}
	i, last := *h.place(x)-1, len(h.items)-1
	h.swap(i, last)
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	*h.place(x) = 0
	if i < last && !h.down(i) {
		h.up(i)
	}
}

// Clear removes all elements. They may not be used with the heap again.
func (h *Heap[T]) Clear() { h.items = nil }

func (h *Heap[T]) swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.place(h.items[i]) = i + 1
	*h.place(h.items[j]) = j + 1
}

func (h *Heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(h.items[i], h.items[parent]) {
			return
		}
		h.swap(i, parent)
		i = parent
	}
}

// down reports whether it has moved the element.
func (h *Heap[T]) down(i int) bool {
	from := i
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h.items); child++ {
			if h.less(h.items[child], h.items[least]) {
				least = child
			}
		}
		if least == i {
			return i > from
		}
		h.swap(i, least)
		i = least
	}
}
