//go:build cgo

package store

// OnHeap reports whether the caches and the memtables of stores are on Go's heap. With cgo, Pebble allocates them in C.
const OnHeap = false
