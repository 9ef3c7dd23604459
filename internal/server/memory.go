package server

import "github.com/sluicemq/sluice/internal/store"

// GCPercent is how far the heap of a server should grow before a collection, in
// percent of the live data. A request leaves about ten KiB of garbage, and
// there is little live data, because messages are on disk. A heap of four times
// the live data saves a sixth of the CPU time. But if the store's caches are
// part of the heap, four times would be too much.
func GCPercent() int {
	if store.OnHeap {
		return 100
	}
	return 300
}
