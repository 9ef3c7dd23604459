//go:build !race

package cluster

// Raced says that the race detector watches the tests.
const Raced = false
