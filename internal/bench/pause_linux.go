package bench

import (
	"syscall"
	"time"
)

// pause sleeps in the kernel. Go's own timers are rounded up to milliseconds if the process is idle.
func pause(d time.Duration) {
	t := syscall.NsecToTimespec(d.Nanoseconds())
	_ = syscall.Nanosleep(&t, nil) // an interruption ends it early
}
