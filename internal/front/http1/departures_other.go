//go:build !linux

package http1

// departures detects nothing on this system: each watch has its own goroutine.
var departures leavers

type leavers struct{}

func (*leavers) add(*watch) bool { return false }

func (*leavers) remove(*watch) {}
