package server

import (
	"runtime"
	"testing"
)

// Memory is returned when the process has allocated little since the last check, and has much to return.
func TestIdleProcessReturnsMemory(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	var r rest
	for _, step := range []struct {
		what string
		now  heapUse
		want bool
	}{
		{"after a start that has allocated much", heapUse{allocated: 100 * mib, held: 60 * mib, alive: 10 * mib},
			false},
		{"under load", heapUse{allocated: 1000 * mib, held: 60 * mib, alive: 10 * mib}, false},
		{"idle", heapUse{allocated: 1032 * mib, held: 60 * mib, alive: 10 * mib}, true},
		{"idle, with little to return", heapUse{allocated: 1033 * mib, held: 18 * mib, alive: 10 * mib}, false},
		{"idle, with a large heap and little to return",
			heapUse{allocated: 1034 * mib, held: 490 * mib, alive: 400 * mib}, false},
		{"idle, with a large heap and much to return",
			heapUse{allocated: 1035 * mib, held: 510 * mib, alive: 400 * mib}, true},
		{"under load again", heapUse{allocated: 1070 * mib, held: 510 * mib, alive: 400 * mib}, false},
	} {
		if got := r.due(step.now); got != step.want {
			t.Errorf("%s: %v, want %v", step.what, got, step.want)
		}
	}
	// A fragmented heap holds more than its live data, however often it is collected.
	r.left = 500 * mib
	if r.due(heapUse{allocated: 1071 * mib, held: 510 * mib, alive: 300 * mib}) {
		t.Error("memory that could not be returned is returned again")
	}
	if !r.due(heapUse{allocated: 1072 * mib, held: 600 * mib, alive: 300 * mib}) {
		t.Error("memory freed since then is not returned")
	}
}

// A rest begins once, and again after load.
func TestRestBegins(t *testing.T) {
	t.Parallel()
	const mib = 1 << 20
	var r rest
	for i, step := range []struct {
		allocated uint64
		want      bool
	}{{100 * mib, false}, {101 * mib, true}, {102 * mib, false}, {400 * mib, false}, {401 * mib, true},
		{402 * mib, false}} {
		r.due(heapUse{allocated: step.allocated})
		if got := r.begins(); got != step.want {
			t.Errorf("look %d: %v, want %v", i, got, step.want)
		}
	}
}

func TestMeasureHeap(t *testing.T) {
	t.Parallel()
	runtime.GC()
	before := measureHeap()
	kept := make([]byte, 1<<20)
	after := measureHeap()
	runtime.KeepAlive(kept)
	if after.allocated < before.allocated+1<<20 || after.held < 1<<20 || before.alive == 0 {
		t.Errorf("before an allocation of a MiB %+v, after it %+v", before, after)
	}
}
