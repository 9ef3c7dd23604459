//go:build !clockfaults

package server

import "time"

// machineClock is the server's clock.
var machineClock = time.Now
