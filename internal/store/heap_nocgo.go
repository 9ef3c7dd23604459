//go:build !cgo

package store

// OnHeap says whether the caches and the memtables of stores are on Go's heap.
// Without cgo there is nowhere else.
const OnHeap = true
