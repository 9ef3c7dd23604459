package cluster

import (
	"slices"
	"sync"
	"time"
)

// clocks is the cluster's time: this machine's, corrected by how far it is off the
// majority's. A shard that comes to a machine whose clock is ten minutes ahead must
// not take all its visibility timeouts for over.
type clocks struct {
	now func() time.Time
	off func() time.Duration // of the machine's wall clock, for trying what that does

	mu      sync.Mutex
	offsets map[string]time.Duration // other clocks minus ours
	errors  map[string]time.Duration // how wrong that may be
	shift   time.Duration
}

// tolerated is a difference that is not worth a correction: clocks that are kept
// by NTP differ by less, and what was measured is not more exact.
const tolerated = 200 * time.Millisecond

func newClocks(now func() time.Time, off func() time.Duration) *clocks {
	if off == nil {
		off = func() time.Duration { return 0 }
	}
	return &clocks{now: now, off: off, offsets: make(map[string]time.Duration), errors: make(map[string]time.Duration)}
}

// wall returns what this machine's clock says.
func (c *clocks) wall() time.Time { return c.now().Round(0).Add(c.off()) }

// measured notes what another node's clock has said just now, in an answer that took
// so long.
func (c *clocks) measured(node string, took time.Duration, theirs time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offsets[node] = theirs.Sub(c.wall().Add(-took / 2))
	c.errors[node] = took / 2
	c.correct()
}

// retain forgets the nodes that are not among those.
func (c *clocks) retain(nodes map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for n := range c.offsets {
		if !nodes[n] {
			delete(c.offsets, n)
			delete(c.errors, n)
		}
	}
	c.correct()
}

// correct chooses the shift: the median of all clocks, ours among them, and of
// two in the middle the one that is nearer to ours.
func (c *clocks) correct() {
	all := []time.Duration{0}
	for n, o := range c.offsets {
		if abs(o) > tolerated+c.errors[n] {
			all = append(all, o)
		} else {
			all = append(all, 0)
		}
	}
	slices.Sort(all)
	low, high := all[(len(all)-1)/2], all[len(all)/2]
	c.shift = low
	if abs(high) < abs(low) {
		c.shift = high
	}
}

func abs(d time.Duration) time.Duration {
	if d < 0 {
		return -d
	}
	return d
}

// correction returns what is to be added to the machine's clock to have the cluster's
// time.
func (c *clocks) correction() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.off() + c.shift
}

// skew returns how far this machine's clock is ahead of the majority's.
func (c *clocks) skew() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return -c.shift
}
