//go:build !clockfaults

package server

import "time"

// machineShift is by how much the machine's clock is wrong. Nobody knows; it is not
// nil in programs that are built for torture.
var machineShift func() time.Duration
