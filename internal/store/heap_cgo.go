//go:build cgo

package store

// OnHeap says whether the caches and the memtables of stores are on Go's heap.
// With cgo Pebble takes their memory from C.
const OnHeap = false
