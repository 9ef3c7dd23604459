//go:build unix

package server

import "syscall"

// openFiles returns how many files the process may have open. The Go runtime has already raised the limit as far as
// possible without privileges.
func openFiles() (uint64, bool) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return 0, false
	}
	return uint64(limit.Cur), true //nolint:unconvert // some systems have it signed
}
