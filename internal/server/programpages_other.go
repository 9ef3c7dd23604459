//go:build !linux

package server

// releaseProgram does nothing: other systems have no way to release the pages of a running program.
func releaseProgram() error { return nil }
