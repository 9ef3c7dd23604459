//go:build !unix

package datadir

// Umask does nothing where there is no such thing.
func Umask() {}
