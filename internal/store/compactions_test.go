package store

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// compacting is a database whose compactions wait.
type compacting struct {
	mu      sync.Mutex
	allowed int
	waiting int
	begun   int
	asked   int // how often the number of allowed compactions was read
}

func (c *compacting) GetAllowedWithoutPermission() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked++
	return c.allowed
}

func (c *compacting) GetWaitingCompaction() (bool, pebble.WaitingCompaction) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting > 0, pebble.WaitingCompaction{}
}

func (c *compacting) Schedule(pebble.CompactionGrantHandle) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == 0 {
		return false
	}
	c.waiting--
	c.begun++
	return true
}

// set sets how many compactions are allowed and how many wait.
func (c *compacting) set(allowed, waiting int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.allowed, c.waiting = allowed, waiting
}

func (c *compacting) want(t *testing.T, begun int) {
	t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.begun != begun {
		t.Errorf("%d waiting compactions have begun, want %d", c.begun, begun)
	}
}

// Refused compactions begin when another one ends, or when more are allowed, with or without an announcement.
func TestCompactionsThatWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &compacting{allowed: 1}
		c := &compactions{}
		c.Register(2, db)
		may, first := c.TrySchedule()
		if !may {
			t.Fatal("the first compaction may not begin")
		}
		if may, _ := c.TrySchedule(); may {
			t.Fatal("more compactions begin than are allowed")
		}
		db.set(1, 4)
		time.Sleep(time.Minute)
		db.want(t, 0)
		first.Done()
		db.want(t, 1)
		db.set(2, 3)
		c.UpdateGetAllowedWithoutPermission()
		time.Sleep(time.Nanosecond)
		db.want(t, 2)
		db.set(3, 2)
		time.Sleep(lookAgain)
		db.want(t, 3)
		c.Unregister()
		c.Done()
		time.Sleep(time.Minute)
		db.want(t, 3)
		if may, _ := c.TrySchedule(); may {
			t.Error("a compaction begins after the end")
		}
	})
}

// A store without waiting compactions has no timer.
func TestCompactionsRest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := &compacting{allowed: 1}
		c := &compactions{}
		c.Register(2, db)
		_, first := c.TrySchedule()
		_, _ = c.TrySchedule()
		db.set(1, 1)
		first.Done() // the second one begins
		c.Done()     // and ends, and none waits
		db.want(t, 1)
		time.Sleep(time.Second)
		asked := db.asked
		time.Sleep(time.Hour)
		if db.asked != asked {
			t.Errorf("an idle store was polled %d times", db.asked-asked)
		}
		c.Unregister()
	})
}
