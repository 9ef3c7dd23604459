package replica

import "time"

// candidacy decides when a node tries to take the lease of a shard that no node holds.
//
//   - It seeks the lease only if the node wants it, and not before the node's hold-off has passed.
//   - It leaves a free lease to other nodes for a delay, which begins when a check first finds it free. A check that
//     finds it held, or fails, begins anew.
type candidacy struct {
	*base
	candidate bool          // may become the owner
	delay     time.Duration // how long a lease must have been free before this node takes it
	holdOff   time.Time     // the node does not try before this time
	free      time.Time     // when the lease was first seen to be free; zero if it is held
	checking  bool          // a check of the lease is in progress
	nextCheck time.Time
}

// want sets whether the replica may become the owner, and how long it leaves a free lease to other nodes.
func (c *candidacy) want(candidate bool, delay time.Duration) {
	c.candidate, c.delay = candidate, delay
	c.nextCheck = c.now
}

// wait sets how long the node does not try.
func (c *candidacy) wait(d time.Duration) { c.holdOff = c.now.Add(d) }

// waitAtLeast makes the node try no earlier than after d.
func (c *candidacy) waitAtLeast(d time.Duration) {
	if until := c.now.Add(d); c.holdOff.Before(until) {
		c.holdOff = until
	}
}

// hurry ends the hold-off, and makes a check due.
func (c *candidacy) hurry() { c.nextCheck, c.holdOff = c.now, time.Time{} }

// reset restarts the delay.
func (c *candidacy) reset() { c.free = time.Time{} }

// checkIfDue begins a check of the lease.
func (c *candidacy) checkIfDue() {
	if !c.checking && c.isDue(c.nextCheck) && c.isDue(c.holdOff) {
		c.checking = true
		c.nextCheck = aligned(c.now, c.lookEvery)
		c.effects.checkLease()
	}
}

// checked ends a check. It reports whether the lease, if it is free, has been left to other nodes for long enough.
func (c *candidacy) checked(isFree bool) bool {
	c.checking = false
	if !isFree {
		c.reset()
		return false
	}
	if c.free.IsZero() {
		c.free = c.now
	}
	until := c.free.Add(c.delay)
	if !c.isDue(until) && until.Before(c.nextCheck) {
		c.nextCheck = until
	}
	return c.isDue(until)
}

// next returns when the next check is due, or zero while one is in progress.
func (c *candidacy) next() time.Time {
	switch {
	case c.checking:
		return time.Time{}
	case c.holdOff.After(c.nextCheck):
		return c.holdOff
	}
	return c.nextCheck
}
