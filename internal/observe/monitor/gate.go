package monitor

import "sync/atomic"

// gate keeps records of a kind from being written before all programs that read them can, and has written down that the
// data directory needs such a program.
type gate struct {
	ready, require func() error
	passed         atomic.Bool // require was called, and had no error
}

func (g *gate) init(ready, require func() error) {
	nothing := func() error { return nil }
	if g.ready = ready; ready == nil {
		g.ready = nothing
	}
	if g.require = require; require == nil {
		g.require = nothing
	}
}

// pass calls require unless that is done.
func (g *gate) pass() error {
	if g.passed.Load() {
		return nil
	}
	if err := g.require(); err != nil {
		return err
	}
	g.passed.Store(true)
	return nil
}

// mayWrite returns an error if no record must be written yet. first says that there is none so far.
func (g *gate) mayWrite(first bool) error {
	if first {
		if err := g.ready(); err != nil {
			return err
		}
	}
	return g.pass()
}
