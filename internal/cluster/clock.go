package cluster

import (
	"slices"
	"sync"
	"time"
)

// clocks keeps the cluster's time: this machine's clock, corrected by its difference from the majority. A shard that
// moves to a machine whose clock is ten minutes ahead must not treat all its visibility timeouts as expired.
type clocks struct {
	now func() time.Time
	off func() time.Duration // shift of the machine's wall clock, for tests

	mu      sync.Mutex
	offsets map[string]time.Duration // other clocks minus ours
	errors  map[string]time.Duration // largest error of the offset
	shift   time.Duration
}

// tolerated is the largest difference that needs no correction. Clocks synchronized by NTP differ by less, and the
// measurement is not more exact.
const tolerated = 200 * time.Millisecond

func newClocks(now func() time.Time, off func() time.Duration) *clocks {
	if off == nil {
		off = func() time.Duration { return 0 }
	}
	return &clocks{now: now, off: off, offsets: make(map[string]time.Duration), errors: make(map[string]time.Duration)}
}

// wall returns the time of this machine's clock.
func (c *clocks) wall() time.Time { return c.now().Round(0).Add(c.off()) }

// measured records the time that another node's clock reported in an answer, and how long the answer took.
func (c *clocks) measured(node string, took time.Duration, theirs time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.offsets[node] = theirs.Sub(c.wall().Add(-took / 2))
	c.errors[node] = took / 2
	c.correct()
}

// retain forgets all nodes except the given ones.
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

// correct chooses the shift: the median of all clocks, including this one. With two medians it takes the one nearer to
// this clock.
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

// correction returns the duration to add to the machine's clock to get the cluster's time.
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
