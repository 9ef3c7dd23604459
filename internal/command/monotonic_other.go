//go:build !linux

package command

import "time"

// monotonic returns nothing: systemd runs on Linux only.
func monotonic() (time.Duration, bool) { return 0, false }
