// Package datadir knows a data directory from outside: whether Sluice made it,
// who can read it, and which version of the program it needs.
//
// It guarantees that a server starts neither in a directory with the files of another
// program, nor in one that other users of the machine can read, nor in one that a
// newer program has written in a way that this program does not understand.
package datadir
