//go:build !faults

package server

import "time"

// machineShift is by how much the machine's clock is wrong, which is not known; it is not
// nil in programs that are built for torture.
var machineShift func() time.Duration
