package history

import (
	"fmt"
	"slices"
	"time"
)

// A resource is a queue, a topic, a subscription, a user or an access key. One worker at a time creates, changes and
// deletes it, and each call records the intended state; an Inspect records the state that a node has found. The state
// of a missing resource is empty.

// judgeResource compares the state that was found with the required one: the state that the last acknowledged call has
// set. A call without an answer may be executed at any later time.
func (j *judge) judgeResource(name string, calls []*Call) {
	for _, look := range calls {
		if look.Operation != Inspect || look.Outcome != Acknowledged {
			continue
		}
		last := "" // it was not made yet
		var allowed []string
		for _, c := range calls { // in the order in which they began
			switch {
			case c.Operation == Inspect || c.Outcome == Refused || c.Began > look.Ended:
			case c.Outcome == Acknowledged && c.before(look):
				last = c.State
			default:
				allowed = append(allowed, c.State)
			}
		}
		if look.State != last && !slices.Contains(allowed, look.State) {
			j.violations = append(j.violations, Violation{"resource", name, "", fmt.Sprintf(
				"node %s has it as %q, and it must be %q (%s)", look.Node, look.State, last, look)})
		}
	}
}

// mayBeGone reports whether a queue or another resource may not exist when c is executed.
func (j *judge) mayBeGone(c *Call) bool {
	all := j.wholes[c.Queue]
	made := func(since time.Duration) bool {
		return slices.ContainsFunc(all, func(k *Call) bool {
			return k.makes() && k.Outcome == Acknowledged && k.Began > since && k.before(c)
		})
	}
	return !made(-1) || slices.ContainsFunc(all, func(d *Call) bool {
		return d.Operation == Drop && d.Outcome != Refused && d.Began < c.Ended &&
			(d.Outcome == Unknown || !made(d.Ended))
	})
}

// mustBeGone reports whether a queue cannot exist when c is executed: its delete was acknowledged, and it was not
// created again.
func (j *judge) mustBeGone(c *Call) bool {
	all := j.wholes[c.Queue]
	return slices.ContainsFunc(all, func(d *Call) bool {
		return d.Operation == Drop && d.Outcome == Acknowledged &&
			d.before(c) && !slices.ContainsFunc(all, func(k *Call) bool {
			return k.makes() && k.Outcome != Refused && k.Began < c.Ended &&
				(k.Outcome == Unknown || !k.before(d))
		})
	})
}

// inDoubt reports whether the change that c requests may have been made already: a policy that is deleted twice is
// missing the second time.
func (j *judge) inDoubt(c *Call) bool {
	return slices.ContainsFunc(j.resources[c.Queue], func(x *Call) bool {
		return x.Operation == Change && x.Outcome == Unknown && x.State == c.State && x.Began < c.Began
	})
}

// makes reports whether a call makes a resource, or makes it again.
func (c *Call) makes() bool { return c.Operation == Create || c.Operation == UndoDelete }

// mayHaveGone reports whether a queue may have been purged or deleted, for good, after e was executed. It ignores the
// purge or deletion that is being judged.
func (j *judge) mayHaveGone(e *Entry, except *Call) bool {
	return slices.ContainsFunc(j.wholes[e.Queue], func(d *Call) bool {
		return d != except && d.mayTake(e) && !j.isUndone(d)
	})
}

// mayTake reports whether a call is a purge or deletion that may have been executed after e.
func (c *Call) mayTake(e *Entry) bool {
	switch c.Operation {
	case Purge:
		return c.Outcome != Refused && c.Ended > e.Began
	case Drop:
		return c.Outcome == Unknown || c.Outcome == Acknowledged && c.Ended > e.Began
	}
	return false
}

// life returns how often a queue had been deleted when c began. A queue that is created again begins a new life, but
// not one whose deletion was undone.
func (j *judge) life(c *Call) (n int) {
	for _, d := range j.wholes[c.Queue] {
		if d.Operation == Drop && d.Outcome == Acknowledged && d.before(c) && !j.isUndone(d) {
			n++
		}
	}
	return n
}
