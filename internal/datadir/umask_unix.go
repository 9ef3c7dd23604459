//go:build unix

package datadir

import "syscall"

// Umask keeps the files that this process makes from now on from all other users,
// whatever the libraries ask for that make them.
func Umask() { syscall.Umask(int(others)) }
