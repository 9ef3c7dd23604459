//go:build !cgo

package store

// OnHeap reports whether the caches and the memtables of stores are on Go's heap. Without cgo they are.
const OnHeap = true
