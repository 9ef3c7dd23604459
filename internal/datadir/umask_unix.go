//go:build unix

package datadir

import "syscall"

// Umask hides the files that this process makes from now on from all other users, with any modes that libraries ask
// for.
func Umask() { syscall.Umask(int(others)) }
