package store

import (
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// compactions decides when a store may begin a compaction: as soon as fewer are running than Pebble allows. Unlike
// Pebble's own scheduler, which always checks ten times a second, it has no timer while no compaction waits. A node of
// a cluster has many stores, and most of them are idle.
type compactions struct {
	db   pebble.DBForCompaction
	turn sync.Mutex // held by grant, and so over calls of db that take its locks
	look *time.Timer

	mu      sync.Mutex // a leaf: Pebble calls the methods below with its own locks held
	running int
	waiting bool // a compaction was refused, and may still wait
	closed  bool
}

var _ pebble.CompactionScheduler = (*compactions)(nil)

// lookAgain is how often the number of allowed compactions is read while one waits. Pebble does not announce all of its
// changes.
const lookAgain = 100 * time.Millisecond

// Register implements pebble.CompactionScheduler.
func (c *compactions) Register(_ int, db pebble.DBForCompaction) {
	c.db = db
	c.look = time.AfterFunc(lookAgain, c.grant)
	c.look.Stop()
}

// Unregister implements pebble.CompactionScheduler.
func (c *compactions) Unregister() {
	c.mu.Lock()
	c.closed = true
	c.look.Stop()
	c.mu.Unlock()
	c.turn.Lock() // until a call of grant has ended
	defer c.turn.Unlock()
}

// TrySchedule implements pebble.CompactionScheduler.
func (c *compactions) TrySchedule() (bool, pebble.CompactionGrantHandle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begin() {
		return true, c
	}
	c.waiting = true
	c.lookIn(lookAgain)
	return false, nil
}

// UpdateGetAllowedWithoutPermission implements pebble.CompactionScheduler.
func (c *compactions) UpdateGetAllowedWithoutPermission() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookIn(0)
}

// begin counts a compaction as running, if one more is allowed. c.mu is held.
func (c *compactions) begin() bool {
	if c.closed || c.running >= c.db.GetAllowedWithoutPermission() {
		return false
	}
	c.running++
	return true
}

// end no longer counts a compaction as running.
func (c *compactions) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
}

// lookIn schedules a call of grant after d if a compaction waits. c.mu is held.
func (c *compactions) lookIn(d time.Duration) {
	if c.waiting && !c.closed {
		c.look.Reset(d)
	}
}

// grant begins waiting compactions, up to the allowed number.
func (c *compactions) grant() {
	c.turn.Lock()
	defer c.turn.Unlock()
	for c.next() {
		if is, _ := c.db.GetWaitingCompaction(); !is || !c.db.Schedule(c) {
			c.end()
			return
		}
		c.mu.Lock()
		c.waiting = true // more may wait
		c.mu.Unlock()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lookIn(lookAgain)
}

// next begins a compaction in the place of the one that waits, if one waits and one more is allowed. Another one that
// is refused from now on waits as well.
func (c *compactions) next() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.waiting || !c.begin() {
		return false
	}
	c.waiting = false
	return true
}

// Done implements pebble.CompactionGrantHandle.
func (c *compactions) Done() {
	c.end()
	c.grant()
}

// Started implements pebble.CompactionGrantHandle.
func (c *compactions) Started() {}

// MeasureCPU implements pebble.CompactionGrantHandle.
func (c *compactions) MeasureCPU(pebble.CompactionGoroutineKind) {}

// CumulativeStats implements pebble.CompactionGrantHandle.
func (c *compactions) CumulativeStats(pebble.CompactionGrantHandleStats) {}
