//go:build !faults

package server

import "time"

// machineShift is nil: only servers built for torture tests have an artificial error of the clock.
var machineShift func() time.Duration
