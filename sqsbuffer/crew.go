package sqsbuffer

import (
	"sync"
	"time"
)

// A crew runs functions in goroutines, and keeps each goroutine for a while to run another function: a call of the SDK
// is more than fifty functions deep, and a new goroutine would grow its stack again and again.
type crew struct {
	jobs   chan func() // unbuffered: only a waiting goroutine receives
	once   sync.Once
	closed chan struct{}
}

// idleTime is how long a goroutine waits for another function.
const idleTime = time.Second

func newCrew() *crew { return &crew{jobs: make(chan func()), closed: make(chan struct{})} }

// run runs f in a goroutine and does not wait for it.
func (c *crew) run(f func()) {
	select {
	case c.jobs <- f:
	default:
		go c.work(f)
	}
}

func (c *crew) work(f func()) {
	idle := time.NewTimer(idleTime)
	defer idle.Stop()
	for {
		f()
		idle.Reset(idleTime)
		select {
		case f = <-c.jobs:
		case <-idle.C:
			return
		case <-c.closed:
			return
		}
	}
}

// close ends the goroutines that wait. A later function runs in its own goroutine.
func (c *crew) close() { c.once.Do(func() { close(c.closed) }) }
