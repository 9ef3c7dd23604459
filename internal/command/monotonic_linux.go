package command

import (
	"syscall"
	"time"
	"unsafe"
)

// monotonic returns the time of the clock by which systemd orders events, CLOCK_MONOTONIC.
func monotonic() (time.Duration, bool) {
	const clockMonotonic = 1
	var at syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&at)), 0)
	return time.Duration(at.Nano()), errno == 0
}
