// Package sortedlist implements a list that stays in order while its elements change. An index of records costs little
// memory with it, and a search for a range of elements reads no others.
package sortedlist

import (
	"iter"
	"slices"
	"sort"
)

// most is how many elements a block has at most.
const most = 256

// List holds elements in the order of a comparison. No two of them are equal. A change takes time that grows with the
// logarithm of their number, and with that number divided by most. The zero value is not ready for use.
type List[T any] struct {
	compare func(a, b T) int
	blocks  [][]T // none is empty
	len     int
}

// New returns an empty list.
func New[T any](compare func(a, b T) int) *List[T] { return &List[T]{compare: compare} }

// Len returns the number of elements.
func (l *List[T]) Len() int { return l.len }

// Put adds an element, or replaces the equal one.
func (l *List[T]) Put(x T) {
	if l.len == 0 {
		l.blocks, l.len = [][]T{{x}}, 1
		return
	}
	b := max(0, l.behind(x)-1)
	i, found := slices.BinarySearchFunc(l.blocks[b], x, l.compare)
	if found {
		l.blocks[b][i] = x
		return
	}
	l.len++
	if len(l.blocks[b]) == most {
		b, i = l.split(b, i)
	}
	l.blocks[b] = slices.Insert(l.blocks[b], i, x)
}

// behind returns the number of the first block that begins behind x.
func (l *List[T]) behind(x T) int {
	return sort.Search(len(l.blocks), func(b int) bool { return l.compare(l.blocks[b][0], x) > 0 })
}

// split divides a full block in two, and returns the new place of its element i. Elements that are added in order fill
// their blocks: at the end of the list a new block begins instead.
func (l *List[T]) split(b, i int) (int, int) {
	at := most / 2
	if i == most && b == len(l.blocks)-1 {
		at = most
	}
	rest := slices.Clone(l.blocks[b][at:])
	l.blocks[b] = slices.Clone(l.blocks[b][:at])
	l.blocks = slices.Insert(l.blocks, b+1, rest)
	if i < at {
		return b, i
	}
	return b + 1, i - at
}

// Delete removes the element that equals x, if there is one.
func (l *List[T]) Delete(x T) {
	b := l.behind(x) - 1
	if b < 0 {
		return
	}
	i, found := slices.BinarySearchFunc(l.blocks[b], x, l.compare)
	if !found {
		return
	}
	l.len--
	l.blocks[b] = slices.Delete(l.blocks[b], i, i+1)
	l.join(b)
	l.join(b - 1)
}

// join appends the next block to a block if the two have few elements. It removes an empty block.
func (l *List[T]) join(b int) {
	switch {
	case b < 0 || b >= len(l.blocks):
	case len(l.blocks[b]) == 0:
		l.blocks = slices.Delete(l.blocks, b, b+1)
	case b+1 < len(l.blocks) && len(l.blocks[b])+len(l.blocks[b+1]) <= most/2:
		l.blocks[b] = append(l.blocks[b], l.blocks[b+1]...)
		l.blocks = slices.Delete(l.blocks, b+1, b+2)
	}
}

// From yields the elements in order, beginning with the first that does not lie before x. The list must not change
// meanwhile.
func (l *List[T]) From(x T) iter.Seq[T] {
	return func(yield func(T) bool) {
		b := max(0, l.behind(x)-1)
		if b == len(l.blocks) {
			return
		}
		i, _ := slices.BinarySearchFunc(l.blocks[b], x, l.compare)
		for ; b < len(l.blocks); b, i = b+1, 0 {
			for _, y := range l.blocks[b][i:] {
				if !yield(y) {
					return
				}
			}
		}
	}
}

// Range yields the elements in order as From does, up to the first that is not in the range. Like there, the list must
// not change meanwhile.
func (l *List[T]) Range(x T, in func(T) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		for y := range l.From(x) {
			if !in(y) || !yield(y) {
				return
			}
		}
	}
}
