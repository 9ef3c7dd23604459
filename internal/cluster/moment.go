package cluster

import "time"

// moment is an instant by two clocks: that of the machine, which may be set, and that of the process, which may stand
// still while the machine is suspended.
type moment struct {
	wall    time.Time
	running time.Duration // since the start of the process
}

var started = time.Now()

// momentOf returns the moment of a time that time.Now has returned.
func momentOf(t time.Time) moment { return moment{wall: t.Round(0), running: t.Sub(started)} }

// since returns how long ago another moment was, by the clock that shows more: a clock that was set back, or has stood
// still, makes nothing young again.
func (m moment) since(other moment) time.Duration {
	return max(m.running-other.running, m.wall.Sub(other.wall))
}
