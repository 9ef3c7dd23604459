package server

import "time"

// wallClock returns the time of the machine's clock.
func wallClock() time.Time {
	if machineShift == nil {
		return time.Now()
	}
	return time.Now().Add(machineShift())
}
