package server

import "github.com/sluicemq/sluice/internal/store"

// GCPercent is how far the heap of a server should grow before it is collected,
// in percent of what is alive. A request leaves some ten KiB behind, and what is
// alive is little, as messages are on disk; with the heap of four times as much
// a sixth of the CPU time is saved. But where the store's caches are part of the
// heap, four times as much would be too much.
func GCPercent() int {
	if store.OnHeap {
		return 100
	}
	return 300
}
