package shard

import (
	"testing"
	"time"

	"github.com/sluicemq/sluice/internal/queue"
)

// A time.Time without a monotonic reading represents a machine whose clock has been set: the difference of two such
// readings is the difference of the clock.
func TestClockNeverGoesBack(t *testing.T) {
	base := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	wall := base
	c := newClock(func() time.Time { return wall }, nil, 0)
	at := c.time()
	for _, set := range []time.Duration{time.Second, -10 * time.Minute, 0, time.Hour, -time.Hour} {
		wall = base.Add(set)
		next := c.time()
		if next < at {
			t.Errorf("machine's clock at %s: went back by %s", set, at.Sub(next))
		}
		at = next
	}
}

func TestClockFollowsTheMachineForward(t *testing.T) {
	wall := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	c := newClock(func() time.Time { return wall }, nil, 0)
	c.time()
	wall = wall.Add(3 * time.Hour)
	if got := c.time(); got != queue.At(wall) {
		t.Errorf("at %s, want %s", got.Time(), wall)
	}
}

func TestClockBeginsWhereTheStoreLeftOff(t *testing.T) {
	wall := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	stored := queue.At(wall.Add(5 * time.Minute))
	c := newClock(func() time.Time { return wall }, nil, stored)
	if got := c.time(); got != stored {
		t.Errorf("at %s, want %s", got.Time(), stored.Time())
	}
}

// A machine's clock that is sometimes ahead, and corrected each time, is never further ahead than its largest error.
func TestClockDoesNotGatherShifts(t *testing.T) {
	began := time.Now()
	shift := time.Duration(0)
	c := newClock(func() time.Time { return began }, func() time.Duration { return shift }, 0)
	for range 5 {
		for _, shift = range []time.Duration{4 * time.Second, 0, -3 * time.Second} {
			if ahead := c.time().Sub(queue.At(began)); ahead != 4*time.Second {
				t.Errorf("shifted by %v it is %v ahead", shift, ahead)
			}
		}
	}
}
