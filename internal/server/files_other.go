//go:build !unix

package server

// openFiles returns how many files the process may have open, where there is
// such a limit.
func openFiles() (uint64, bool) { return 0, false }
