// Package doctor examines a data directory while no server runs on it: whether
// everything in it can be read, and fits together. It changes nothing, and its
// memory does not grow with the number of messages.
//
// It finds damage that a running server finds only when a request reads it, or not at
// all: a bad block in a table that is not read, a message that no index leads to, a
// counter that is wrong. It cannot find damage that left no trace; the operations
// manual says what that is.
package doctor
