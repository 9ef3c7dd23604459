package server

import "time"

// wallClock is what the machine's clock says.
func wallClock() time.Time {
	if machineShift == nil {
		return time.Now()
	}
	return time.Now().Add(machineShift())
}
