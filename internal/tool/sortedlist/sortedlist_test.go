package sortedlist

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// element has an order and a version: a list replaces one version by another.
type element struct{ order, version int }

func byOrder(a, b element) int { return cmp.Compare(a.order, b.order) }

// The list is compared with a map that is sorted anew for each question.
func TestListIsInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	list, model := New(byOrder), make(map[int]element)
	for step := range 60_000 {
		e := element{rng.IntN(4 * most), step}
		if rng.IntN(100) < growth(step) {
			list.Put(e)
			model[e.order] = e
		} else {
			list.Delete(e)
			delete(model, e.order)
		}
		if step%500 == 0 {
			check(t, list, model, element{order: rng.IntN(4*most+2) - 1})
		}
	}
}

// growth makes the list grow, and then shrink until it is nearly empty, several times.
func growth(step int) (percent int) { return 15 + 70*(step/10_000%2) }

func check(t *testing.T, list *List[element], model map[int]element, from element) {
	t.Helper()
	var want []element
	for _, e := range model {
		if e.order >= from.order {
			want = append(want, e)
		}
	}
	slices.SortFunc(want, byOrder)
	if got := slices.Collect(list.From(from)); !slices.Equal(got, want) || list.Len() != len(model) {
		t.Fatalf("from %d: %d elements of %d, want %d of %d", from.order, len(got), list.Len(), len(want), len(model))
	}
	in := func(e element) bool { return e.order < from.order+most }
	if end := slices.IndexFunc(want, func(e element) bool { return !in(e) }); end >= 0 {
		want = want[:end]
	}
	if got := slices.Collect(list.Range(from, in)); !slices.Equal(got, want) {
		t.Fatalf("the range from %d: %d elements, want %d", from.order, len(got), len(want))
	}
	for b, block := range list.blocks {
		if len(block) == 0 || len(block) > most || cap(block) > 2*most {
			t.Fatalf("block %d of %d has %d elements, and room for %d", b, len(list.blocks), len(block), cap(block))
		}
	}
	if len(list.blocks) > 2+4*list.Len()/most {
		t.Fatalf("%d blocks for %d elements", len(list.blocks), list.Len())
	}
}

func TestEmptyListHasNothing(t *testing.T) {
	list := New(byOrder)
	list.Delete(element{})
	for e := range list.From(element{}) {
		t.Fatal(e)
	}
}

// Elements that are added in order, as records are when a store is read, fill their blocks.
func TestListFillsItsBlocks(t *testing.T) {
	list := New(byOrder)
	for i := range 100 * most {
		list.Put(element{order: i})
	}
	if len(list.blocks) != 100 {
		t.Fatalf("%d blocks", len(list.blocks))
	}
}

// A search compares a few elements, however many there are.
func TestSearchComparesFewElements(t *testing.T) {
	compared := 0
	list := New(func(a, b element) int {
		compared++
		return byOrder(a, b)
	})
	const elements = 100_000
	for i := range elements {
		list.Put(element{order: i})
	}
	compared = 0
	for e := range list.From(element{order: elements / 3}) {
		if e.order != elements/3 || compared > 20 {
			t.Fatalf("found %d after %d comparisons", e.order, compared)
		}
		return
	}
}

func BenchmarkPutAndDelete(b *testing.B) {
	const elements = 1_000_000
	list := New(byOrder)
	for i := range elements {
		list.Put(element{order: i})
	}
	rng := rand.New(rand.NewPCG(1, 2))
	b.ReportAllocs()
	for b.Loop() {
		e := element{order: rng.IntN(elements)}
		list.Delete(e)
		list.Put(e)
	}
}
