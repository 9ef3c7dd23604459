// Package doctor examines a data directory while no server runs on it: whether
// everything in it can be read, and fits together. It changes nothing, and its
// memory does not grow with the number of messages.
//
// It finds what a running server finds only when somebody asks for it, or not
// at all: a bad block in a table that nobody reads, a message that no index
// leads to, a counter that is wrong. What it cannot find is what left no trace;
// the operations manual says what that is.
package doctor
